// SPDX-License-Identifier: MIT
// The one button, what is going on, and live figures.
import { bytes, count, duration, plural, rate } from '../logic/format';
import { Icon } from '../parts/icon';
import { hasWork, type Volunteer } from './volunteer';

/** The lamp, and what is going on. */
function says(volunteer: Volunteer): [string, string] {
  const { phase, paused, settings, reason, offered } = volunteer;
  switch (phase.value) {
    case 'idle':
      return ['off', 'Nothing is being computed'];
    case 'stopping':
      return ['off', 'Stopping …'];
    case 'measuring':
      return ['wait', 'Measuring this machine\'s speed …'];
    case 'joining':
      return ['wait', 'Connecting to the coordinator …'];
    case 'waiting': {
      const why = reason.value ? `The coordinator ended the connection: ${reason.value}` : 'The coordinator does not answer';
      return ['wait', `${why}; trying again`];
    }
    case 'joined': {
      if (paused.value) return ['wait', `Paused ${paused.value}`];
      return offered.value?.some(hasWork) ? ['on', `Computing on ${plural(settings.value.threads, 'thread')}`] : ['wait', 'Connected; there is nothing to compute just now'];
    }
  }
}

/** Beside what is said, which a screen reader would say anew each second else. */
function Countdown({ seconds }: { seconds: number }) {
  return <span class="note">{seconds > 0 ? `in ${seconds} s` : 'now'}</span>;
}

export function Switch({ volunteer }: { volunteer: Volunteer }) {
  const { running, phase, problem, settings, retryAt, now } = volunteer;
  const [lamp, text] = says(volunteer);
  const { threads, share } = settings.value;
  return (
    <section class="plate switch" aria-label="Computing">
      <div class="switch-head">
        {running.value
          ? <button class="button main big" onClick={() => void volunteer.stop()}><Icon name="stop" /> Stop</button>
          : <button class="button main big" disabled={phase.value === 'stopping'} onClick={() => void volunteer.start()}>
              <Icon name="play" /> Start computing
            </button>}
        <p class={`lamp lamp-${lamp}`}>
          <span role="status">{text}</span>
          {phase.value === 'waiting' && <Countdown seconds={Math.ceil((retryAt.value - now.value) / 1000)} />}
        </p>
      </div>
      {!running.value && (
        <p class="consent">
          A press on the button lends {plural(threads, 'processor thread')}
          {share < 100 && ` for ${share}% of the time`} to the projects below, until you press Stop or close this page.
          Inputs and results go over the network. The operator of the pool is told this browser and its operating system, the
          number of threads, the speed measured where there is training, and the name if you type one below. Whether the
          machine runs on its battery is read, where the browser tells, and not sent. Nothing else is read from this machine.
        </p>
      )}
      <dl class="stats figures">
        <div><dt>Tickets done</dt><dd>{count(volunteer.done.value)}</dd></div>
        <div class="stat-good"><dt>Accepted</dt><dd>{count(volunteer.accepted.value)}</dd></div>
        <div><dt>Failed</dt><dd>{count(volunteer.failed.value)}</dd></div>
        <div><dt>Tickets/min</dt><dd>{count(volunteer.rate.value)}</dd></div>
        {volunteer.samples.value > 0 && <div><dt>Samples/s</dt><dd>{rate(volunteer.samplesRate.value)}</dd></div>}
        <div><dt>Received</dt><dd>{bytes(volunteer.received.value)}</dd></div>
        <div><dt>Sent</dt><dd>{bytes(volunteer.sent.value)}</dd></div>
        <div><dt>Time</dt><dd>{duration(volunteer.seconds.value)}</dd></div>
      </dl>
      <div role="alert" class="problem-place">
        {problem.value && <div class="problem"><Icon name="warn" /><p class="message">{problem.value}</p></div>}
      </div>
    </section>
  );
}
