// SPDX-License-Identifier: MIT
// The panels beside the plane: the model with its settings, and sets of points.
import { MODELS, valueAt, type Choice, type Slider } from '../logic/models';
import { PRESETS, type Preset } from '../logic/presets';
import type { PlaneState } from './plane-state';

const shown = (value: number): string =>
  value !== 0 && (value < 0.001 || value >= 10_000) ? value.toExponential(0) : String(value);

function SliderField({ state, setting }: { state: PlaneState; setting: Slider }) {
  const position = Number(state.values.value[setting.key]),
    value = valueAt(setting, position);
  return (
    <label class="field">
      <span>
        {setting.label} <output>{shown(setting.logarithmic ? Number(value.toPrecision(2)) : value)}</output>
      </span>
      <input
        type="range"
        min={setting.least}
        max={setting.most}
        step={setting.step}
        value={position}
        aria-valuetext={shown(value)}
        onInput={(event) => state.set(setting.key, Number(event.currentTarget.value))}
      />
    </label>
  );
}

function ChoiceField({ state, setting }: { state: PlaneState; setting: Choice }) {
  return (
    <label class="field">
      <span>{setting.label}</span>
      <select
        value={state.values.value[setting.key]}
        onChange={(event) => state.set(setting.key, event.currentTarget.value)}
      >
        {Object.entries(setting.options).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ModelPanel({ state }: { state: PlaneState }) {
  const model = state.model.value,
    values = state.values.value;
  return (
    <section class="card settings" aria-label="Model">
      <h2>Model</h2>
      <label class="field">
        <span class="hidden">Model</span>
        <select value={model.name} onChange={(event) => (state.name.value = event.currentTarget.value)}>
          {(['Classifiers', 'Clusterings'] as const).map((group) => (
            <optgroup key={group} label={group}>
              {MODELS.filter(({ clusters }) => clusters === (group === 'Clusterings')).map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <p class="note">{model.about}</p>
      {model.settings
        .filter(({ used }) => used?.(values) ?? true)
        .map((setting) =>
          setting.kind === 'slider' ? (
            <SliderField key={setting.key} state={state} setting={setting} />
          ) : (
            <ChoiceField key={setting.key} state={state} setting={setting} />
          ),
        )}
    </section>
  );
}

export function PointsPanel({ state }: { state: PlaneState }) {
  return (
    <section class="card settings" aria-label="Sets of points">
      <h2>Sets of points</h2>
      <div class="presets">
        {(Object.keys(PRESETS) as Preset[]).map((preset) => (
          <button key={preset} class="button" onClick={() => state.preset(preset)}>
            {PRESETS[preset].name}
          </button>
        ))}
      </div>
      <p class="note">Each press draws new points. Click or drag in the plane to add more.</p>
    </section>
  );
}
