// SPDX-License-Identifier: MIT
// What went wrong, at its place: the message of the library as it is.
import type { ComponentChildren } from 'preact';
import type { Place, Session } from '../state/session';
import { Icon } from './icon';

export function Problem({ session, place, children }: { session: Session; place: Place; children?: ComponentChildren }) {
  const message = session.problems.value[place];
  return (
    <div role="alert" class="problem-place">
      {message && (
        <div class="problem">
          <Icon name="warn" />
          <div>
            <p class="message">{message}</p>
            {children}
          </div>
        </div>
      )}
    </div>
  );
}
