// SPDX-License-Identifier: MIT
// Frames of docs/protocol.md; the C++ side is dist/wire/frame.h, and both pass the same vectors.

export type FrameType =
  | 'hello' | 'welcome' | 'ready' | 'ticket' | 'result' | 'verdict' | 'give_back' | 'drain' | 'echo' | 'error' | 'cancel';

export interface Frame {
  type: FrameType;
  /** 0: none */
  ticket: number;
  control: Record<string, unknown>;
  /** A view of the message's bytes. */
  payload: Uint8Array;
}

export const frameHeaderBytes: 32;

/** Throws FrameError when the bytes are not one whole frame. */
export function decodeFrame(message: Uint8Array): Frame;

export function encodeFrame(frame: {
  type: FrameType;
  ticket?: number;
  control?: Record<string, unknown>;
  payload?: Uint8Array;
}): Uint8Array;

export class FrameError extends Error {}
export const putOut: string;
