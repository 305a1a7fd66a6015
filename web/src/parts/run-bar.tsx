// SPDX-License-Identifier: MIT
// The buttons to start, pause and reset, and the current figures.
import { compact, count, duration, percent, plural, rate } from '../logic/format';
import type { Session } from '../state/session';
import { Icon } from './icon';
import { Problem } from './problem';

export function RunBar({ session }: { session: Session }) {
  const { phase, busy, notice, history, epochs, finished } = session;
  const running = phase.value === 'running';
  const idle = phase.value === 'ready' || phase.value === 'paused';
  const number = (value: number, text: (value: number) => string) => (Number.isFinite(value) ? text(value) : '–');
  return (
    <section id="run" class="card run" aria-label="Training" tabIndex={-1}>
      <div class="run-buttons">
        {phase.value === 'broken' ? (
          <button class="button main" onClick={() => void session.open()}>
            <Icon name="reset" /> Load again
          </button>
        ) : running ? (
          <button class="button main" onClick={() => void session.pause()}>
            <Icon name="pause" /> Pause
          </button>
        ) : (
          <button class="button main" disabled={!idle || Boolean(busy.value)} onClick={() => void session.start()}>
            <Icon name="play" />{' '}
            {phase.value !== 'paused' ? 'Start' : finished.value ? `${plural(epochs.value, 'epoch')} more` : 'Resume'}
          </button>
        )}
        <button
          class="button"
          disabled={!history.step.value || Boolean(busy.value)}
          onClick={() => void session.reset()}
        >
          <Icon name="reset" /> Reset
        </button>
      </div>
      <dl class="stats">
        <div class="stat-wide">
          <dt>Step</dt>
          <dd>{count(history.step.value)}</dd>
        </div>
        <div class="stat-wide">
          <dt>Epoch</dt>
          <dd>{count(history.epoch.value)}</dd>
        </div>
        <div>
          <dt>Loss</dt>
          <dd>{number(history.loss.value, (value) => value.toFixed(3))}</dd>
        </div>
        <div class="stat-good">
          <dt>Test accuracy</dt>
          <dd>{percent(history.test.value?.accuracy ?? NaN)}</dd>
        </div>
        <div>
          <dt>Images/s</dt>
          <dd>{number(history.imagesPerSecond.value, compact)}</dd>
        </div>
        <div class="stat-wide">
          <dt>Time</dt>
          <dd>{duration(history.seconds.value)}</dd>
        </div>
      </dl>
      <p class="status" role="status">
        {busy.value ? `${busy.value} …` : notice.value}
      </p>
      <Problem session={session} place="engine" />
      <Problem session={session} place="training">
        {session.lowerRate.value && (
          <button
            class="button"
            disabled={running || Boolean(busy.value)}
            onClick={() => void session.continueSlower()}
          >
            Train with a rate of {rate(session.lowerRate.value)}
          </button>
        )}
      </Problem>
    </section>
  );
}
