// SPDX-License-Identifier: MIT
// How much of the machine is used: changes count at once.
import { onBattery } from './power';
import { LONGEST_NAME, type Settings } from './settings';
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
      <span><label for={id}>{label}</label> <output for={id}>{text}</output></span>
      <input id={id} type="range" min={least} max={most} step={step} value={value} aria-valuetext={text} disabled={least === most}
             onInput={(event) => set(Number(event.currentTarget.value))} />
    </div>
  );
}

function Check({ label, value, set }: { label: string; value: boolean; set: (value: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => set(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

export function Limits({ volunteer }: { volunteer: Volunteer }) {
  const { threads, share, whenHidden, name, ...rest } = volunteer.settings.value;
  const set = <Key extends keyof Settings>(key: Key) => (value: Settings[Key]) => volunteer.change({ [key]: value });
  return (
    <section class="plate limits" aria-label="What it may use">
      <div class="plate-head"><h2>What it may use</h2></div>
      <Slider id="threads" label="Threads" text={`${threads} of ${CORES}`} value={threads} least={1} most={CORES} set={set('threads')} />
      <Slider id="share" label="Part of the time" text={`${share}%`} value={share} least={10} most={100} step={5} set={set('share')} />
      <Check label="Pause while this page is hidden" value={!whenHidden} set={(value) => set('whenHidden')(!value)} />
      {onBattery.value === null
        ? <p class="note">This browser does not tell whether the machine runs on its battery.</p>
        : <Check label="Pause on battery" value={!rest.onBattery} set={(value) => set('onBattery')(!value)} />}
      <label class="field">
        <span>Name, if you like: the operator of the pool sees it</span>
        <input type="text" maxLength={LONGEST_NAME} value={name} disabled={volunteer.running.value} autocomplete="off"
               onInput={(event) => set('name')(event.currentTarget.value)} />
      </label>
    </section>
  );
}
