// SPDX-License-Identifier: MIT
// The start button, the status, and live figures.
import { bytes, count, duration, plural, rate } from '../logic/format';
import { Alert } from '../parts/alert';
import { Icon } from '../parts/icon';
import { hasWork, type Volunteer } from './volunteer';

const NAMED = 3; // projects that the consent names

/** The status lamp and the status text. */
function statusOf(volunteer: Volunteer): [string, string] {
  const { phase, paused, settings, reason, offered, waits } = volunteer;
  switch (phase.value) {
    case 'idle':
      return ['off', 'Not computing'];
    case 'stopping':
      return ['off', 'Stopping …'];
    case 'measuring':
      return ['wait', "Measuring this machine's speed …"];
    case 'joining':
      return ['wait', 'Connecting to the coordinator …'];
    case 'waiting': {
      const why = reason.value
        ? `The coordinator closed the connection: ${reason.value}`
        : 'The coordinator does not answer';
      return ['wait', `${why}; trying again`];
    }
    case 'following':
      return ['wait', 'Another tab of this browser computes. This tab continues when that one is closed'];
    case 'joined': {
      if (offered.value === null) return ['wait', 'The coordinator does not answer'];
      if (paused.value) return ['wait', `Paused ${paused.value}`];
      if (waits.value) return ['wait', `Waiting for another node: ${waits.value}`];
      return offered.value.some(hasWork)
        ? ['on', `Computing on ${plural(settings.value.threads, 'thread')}`]
        : ['wait', 'Connected, waiting for work'];
    }
  }
}

/** Separate from the status text, so that a screen reader does not read it every second. */
function Countdown({ seconds }: { seconds: number }) {
  return <span class="note">{seconds > 0 ? `in ${seconds} s` : 'now'}</span>;
}

/** Such as "primes, training and 3 other projects". */
function projectsText({ offered }: Volunteer): string {
  const names = (offered.value ?? []).filter(hasWork).map(({ name }) => name || 'an unnamed project');
  if (names.length === 0) return 'the projects of this coordinator, which have no work now';
  const more = names.length - NAMED;
  if (more > 0) return `${names.slice(0, NAMED).join(', ')} and ${plural(more, 'other project')}`;
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

/** The bytes that the page sends and receives: an estimate, and the limits. */
function trafficText({ usualTraffic, settings }: Volunteer): string {
  const { megabytesAnHour, megabytesADay } = settings.value;
  const most = `It stops at ${megabytes(megabytesAnHour)} an hour and ${megabytes(megabytesADay)} a day`;
  const usual = usualTraffic.value;
  if (!usual) return `The usual traffic of a node is not known, because no node has computed recently. ${most}`;
  const seconds = (3600 * 1e6 * megabytesAnHour) / usual;
  const often = seconds < 3600 ? `, which is after about ${longText(seconds)} of each hour` : '';
  return `The nodes here send and receive about ${bytes(usual)} an hour each. ${most}${often}`;
}

const megabytes = (value: number): string => (value < 1000 ? `${value} MB` : `${value / 1000} GB`);
const longText = (seconds: number): string =>
  seconds < 90 ? plural(Math.max(1, Math.round(seconds)), 'second') : plural(Math.round(seconds / 60), 'minute');

function Consent({ volunteer }: { volunteer: Volunteer }) {
  const { threads, share } = volunteer.settings.value;
  return (
    <p class="consent">
      After you press the button, this page computes for <b>{projectsText(volunteer)}</b> on{' '}
      {plural(threads, 'processor thread')}
      {share < 100 && ` for ${share}% of the time`}, until you press Stop or close the page. It receives inputs and
      sends results over the network. {trafficText(volunteer)}. The pool's operator sees your browser, your operating
      system, the number of threads, the memory that your browser reports, the measured speed if a project trains, and
      your name if you enter one below. The page keeps an identity, so that the operator sees the same node on your next
      visit. The page reads whether this machine runs on battery, and whether somebody uses it if you allow that, and
      does not send it. It reads nothing else from this machine.
    </p>
  );
}

function Figures({ volunteer }: { volunteer: Volunteer }) {
  return (
    <dl class="stats figures">
      <div>
        <dt>Tickets done</dt>
        <dd>{count(volunteer.done.value)}</dd>
      </div>
      <div class="stat-good">
        <dt>Accepted</dt>
        <dd>{count(volunteer.accepted.value)}</dd>
      </div>
      <div>
        <dt>Failed</dt>
        <dd>{count(volunteer.failed.value)}</dd>
      </div>
      <div>
        <dt>Tickets/min</dt>
        <dd>{count(volunteer.rate.value)}</dd>
      </div>
      {volunteer.samples.value > 0 && (
        <div>
          <dt>Samples/s</dt>
          <dd>{rate(volunteer.samplesRate.value)}</dd>
        </div>
      )}
      <div>
        <dt>Received</dt>
        <dd>{bytes(volunteer.received.value)}</dd>
      </div>
      <div>
        <dt>Sent</dt>
        <dd>{bytes(volunteer.sent.value)}</dd>
      </div>
      <div>
        <dt>Time</dt>
        <dd>{duration(volunteer.seconds.value)}</dd>
      </div>
    </dl>
  );
}

/** The reason of the expulsion, and the time that the page waits. */
function expelledText({ expulsion, now }: Volunteer): string {
  if (!expulsion.value) return '';
  const { reason } = expulsion.value;
  const minutes = Math.ceil((expulsion.value.until - now.value) / 60_000);
  return `The coordinator expelled this page${reason && `: ${reason}`}. It waits before it may compute again: ${plural(minutes, 'minute')}`;
}

export function Switch({ volunteer }: { volunteer: Volunteer }) {
  const { running, phase, problem, retryAt, now, expulsion } = volunteer;
  const [lamp, text] = statusOf(volunteer);
  return (
    <section class="card switch" aria-label="Computing">
      {!running.value && <Consent volunteer={volunteer} />}
      <div class="switch-head">
        {running.value ? (
          <button class="button main big" onClick={() => void volunteer.stop()}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <button
            class="button main big"
            disabled={phase.value === 'stopping' || expulsion.value !== null}
            onClick={() => void volunteer.start()}
          >
            <Icon name="play" /> Start computing
          </button>
        )}
        <p class={`lamp lamp-${lamp}`}>
          <span role="status">{text}</span>
          {phase.value === 'waiting' && <Countdown seconds={Math.ceil((retryAt.value - now.value) / 1000)} />}
        </p>
      </div>
      <Alert texts={[expelledText(volunteer), problem.value]} />
      {(running.value || volunteer.done.value + volunteer.received.value > 0) && <Figures volunteer={volunteer} />}
    </section>
  );
}
