// SPDX-License-Identifier: MIT
// The limits on this machine's use. Changes apply at once.
import { onBattery } from './power';
import { canDetectPresence, watchPresence } from './presence';
import { metered } from './connection';
import { LEAST_MEGABYTES, LONGEST_NAME, MOST_MEGABYTES, type Settings } from './settings';
import { CORES, type Volunteer } from './volunteer';

interface SliderProps {
  id: string;
  label: string;
  text: string;
  value: number;
  least: number;
  most: number;
  step?: number;
  set: (value: number) => void;
}

function Slider({ id, label, text, value, least, most, step = 1, set }: SliderProps) {
  return (
    <div class="field">
      <span>
        <label for={id}>{label}</label> <output for={id}>{text}</output>
      </span>
      <input
        id={id}
        type="range"
        min={least}
        max={most}
        step={step}
        value={value}
        aria-valuetext={text}
        disabled={least === most}
        onInput={(event) => set(Number(event.currentTarget.value))}
      />
    </div>
  );
}

/** A number of megabytes. It counts when the user leaves the field. */
function Megabytes({ label, value, set }: { label: string; value: number; set: (value: number) => void }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="number"
        inputMode="numeric"
        min={LEAST_MEGABYTES}
        max={MOST_MEGABYTES}
        value={value}
        onChange={({ currentTarget }) => {
          const given = Math.round(Number(currentTarget.value));
          const valid = given >= LEAST_MEGABYTES && given <= MOST_MEGABYTES;
          currentTarget.value = String(valid ? given : value);
          if (valid) set(given);
        }}
      />
    </label>
  );
}

function Check({ label, value, set }: { label: string; value: boolean; set: (value: boolean) => unknown }) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => set(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

export function Limits({ volunteer }: { volunteer: Volunteer }) {
  const { threads, share, whenHidden, name, ...rest } = volunteer.settings.value;
  const set =
    <Key extends keyof Settings>(key: Key) =>
    (value: Settings[Key]) =>
      volunteer.change({ [key]: value });
  return (
    <section class="card limits" aria-label="Limits">
      <div class="card-header">
        <h2>Limits</h2>
      </div>
      <Slider
        id="threads"
        label="Threads"
        text={`${threads} of ${CORES}`}
        value={threads}
        least={1}
        most={CORES}
        set={set('threads')}
      />
      <Slider
        id="share"
        label="Share of the time"
        text={`${share}%`}
        value={share}
        least={10}
        most={100}
        step={5}
        set={set('share')}
      />
      <div class="two">
        <Megabytes label="MB an hour, at most" value={rest.megabytesAnHour} set={set('megabytesAnHour')} />
        <Megabytes label="MB a day, at most" value={rest.megabytesADay} set={set('megabytesADay')} />
      </div>
      <Check label="Pause while this page is hidden" value={!whenHidden} set={(value) => set('whenHidden')(!value)} />
      {onBattery.value === null ? (
        <p class="note">This browser does not report whether the machine runs on battery.</p>
      ) : (
        <Check label="Pause on battery" value={!rest.onBattery} set={(value) => set('onBattery')(!value)} />
      )}
      {metered.value === null ? (
        <p class="note">This browser does not report whether the connection is metered.</p>
      ) : (
        <Check
          label="Pause on a metered connection and while data saving is on"
          value={!rest.onMetered}
          set={(value) => set('onMetered')(!value)}
        />
      )}
      {canDetectPresence() && (
        <Check
          label="Compute only after nobody has used this machine for a minute"
          value={rest.onlyUnused}
          set={async (value) => set('onlyUnused')(value && (await watchPresence(true)))}
        />
      )}
      <label class="field">
        <span>Name (optional). The pool's operator sees it</span>
        <input
          type="text"
          maxLength={LONGEST_NAME}
          value={name}
          disabled={volunteer.running.value}
          autocomplete="off"
          onInput={(event) => set('name')(event.currentTarget.value)}
        />
      </label>
    </section>
  );
}
