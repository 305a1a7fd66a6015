// SPDX-License-Identifier: MIT
// The messages between the page and its worker.
import type { Components, Drawing, Fitted, PlaneRequest } from './answers';
import type { Pictures } from '../logic/idx';

export type Request = { id: number } & (
  | { kind: 'plane'; plane: PlaneRequest; sides: readonly number[] }
  | { kind: 'digits'; count: number }
  | { kind: 'components'; pictures: Pictures }
);

/** `last`: no further answer to this request follows. */
export type Answer = { id: number; last: boolean } & (
  | { kind: 'plane'; fitted: Fitted; drawing: Drawing }
  | { kind: 'digits'; pictures: Pictures }
  | { kind: 'components'; components: Components }
  | { kind: 'failed'; message: string }
);
