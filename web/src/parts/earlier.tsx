// SPDX-License-Identifier: MIT
// Offers to continue the training of an earlier visit.
import { ago, percent, plural } from '../logic/format';
import { CHOICES } from '../state/networks';
import type { Session } from '../state/session';

export function Earlier({ session }: { session: Session }) {
  const saved = session.earlier.value;
  if (!saved) return null;
  const { step, test } = saved.history;
  const name = CHOICES.find(({ json }) => json === saved.json)?.title ?? 'Your own network';
  const disabled = Boolean(session.busy.value) || session.phase.value === 'running';
  return (
    <section class="card earlier" aria-label="Your last training">
      <p>
        <b>Your last training:</b> {name}, {plural(step, 'step')}
        {test && `, test accuracy ${percent(test.accuracy)}`}, {ago((Date.now() - saved.savedAt) / 1000)}
      </p>
      <div class="row">
        <button class="button main" disabled={disabled} onClick={() => void session.continueEarlier()}>
          Continue
        </button>
        <button class="button" disabled={disabled} onClick={session.discardEarlier}>
          Discard
        </button>
      </div>
    </section>
  );
}
