// SPDX-License-Identifier: MIT
// The tab of the digits: a scatter plot of two principal components, their pictures, and the chosen picture.
import { useEffect, useRef, useState } from 'preact/hooks';
import { count, percent } from '../logic/format';
import { nearest } from '../logic/presets';
import { neighbor, type Direction, type Place } from '../logic/scatter';
import { gray, signed, tile } from '../logic/tiles';
import { Alert } from '../parts/alert';
import { Picture } from '../parts/picture';
import { dark } from '../state/theme';
import type { Components } from './answers';
import { rebuilt, type DigitsState, type Origin } from './digits-state';
import { css, palette, square, type Rgb } from './palette';

const KEYS: Record<string, Direction> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' };

export function Digits({ state }: { state: DigitsState }) {
  useEffect(() => state.open(), []);
  return (
    <>
      <Scatter state={state} />
      <div class="panels">
        <Chosen state={state} />
        <DataPanel state={state} />
        <ComponentsPanel state={state} />
      </div>
    </>
  );
}

interface Look {
  classes: Rgb[];
  background: Rgb;
  ink: Rgb;
}

function paintScatter(ink: CanvasRenderingContext2D, side: number, state: DigitsState, look: Look): void {
  const labels = state.pictures.value!.labels,
    front = state.front.value,
    places = state.places.value,
    size = Math.max(2, side / 260);
  ink.clearRect(0, 0, side, side);
  places.forEach(({ x, y }, i) => {
    ink.beginPath();
    ink.arc(side * x, side * y, size, 0, 2 * Math.PI);
    ink.fillStyle = css(look.classes[labels[i] % 10], front === null ? 0.75 : labels[i] === front ? 1 : 0.12);
    ink.fill();
  });
  ink.textAlign = 'center';
  ink.textBaseline = 'middle';
  ink.font = `700 ${Math.max(17, side / 26)}px 'Hanken Grotesk Variable', system-ui, sans-serif`;
  ink.lineJoin = 'round';
  for (const [label, { x, y }] of state.middles.value) {
    if (front !== null && label !== front) continue;
    ink.strokeStyle = css(look.background);
    ink.lineWidth = 6;
    ink.strokeText(String(label), side * x, side * y);
    ink.fillStyle = css(look.classes[label % 10]);
    ink.fillText(String(label), side * x, side * y);
  }
  const chosen = places[state.chosen.value];
  if (!chosen) return;
  for (const [color, width] of [
    [look.background, 6],
    [look.ink, 2.5],
  ] as const) {
    ink.beginPath();
    ink.arc(side * chosen.x, side * chosen.y, size + 5, 0, 2 * Math.PI);
    ink.strokeStyle = css(color);
    ink.lineWidth = width;
    ink.stroke();
  }
}

function Scatter({ state }: { state: DigitsState }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState(0);
  const { pictures, components, places, chosen, front, busy, problem } = state;
  useEffect(() => {
    const observer = new ResizeObserver(() => setSize(canvas.current?.clientWidth ?? 0));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const paper = square(canvas.current!);
    if (paper && pictures.value) paintScatter(paper.ink, paper.side, state, palette(canvas.current!));
  }, [places.value, chosen.value, front.value, size, dark.value]);

  const at = ({ clientX, clientY }: PointerEvent): Place => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: (clientX - box.left) / box.width, y: (clientY - box.top) / box.height };
  };
  const choose = (event: PointerEvent) => {
    const found = nearest(places.value, at(event), 0.06);
    if (found >= 0) chosen.value = found;
  };
  const key = (event: KeyboardEvent) => {
    const direction = KEYS[event.key];
    if (!direction || !places.value.length) return;
    event.preventDefault();
    chosen.value = neighbor(places.value, chosen.value, direction);
  };
  const shape = pictures.value?.shape;
  const found = components.value;
  return (
    <section class="card plane-card" aria-label="Scatter plot">
      <div class="card-header">
        <h2>Principal components of digits</h2>
        <p class="note" role="status">
          {busy.value
            ? 'Computing …'
            : shape && found
              ? `${count(shape[0])} pictures of ${shape[1] * shape[2]} pixels, in ${Math.round(found.milliseconds)} ms`
              : ''}
        </p>
      </div>
      <canvas
        ref={canvas}
        class="scatter"
        tabIndex={0}
        role="application"
        aria-label={`Pictures by component ${state.across.value + 1} and component ${state.down.value + 1}. Arrows choose a picture.`}
        onPointerMove={(event) => event.pointerType === 'mouse' && choose(event)}
        onPointerDown={choose}
        onKeyDown={key}
      />
      <Alert texts={[problem.value]} />
      <Classes state={state} />
    </section>
  );
}

/** Brings one class to the front. */
function Classes({ state }: { state: DigitsState }) {
  const { front } = state;
  return (
    <div class="classes" role="group" aria-label="Class in front">
      {Array.from({ length: 10 }, (_, label) => (
        <button
          key={label}
          class={`class-button class-${label}`}
          aria-pressed={front.value === label}
          onClick={() => (front.value = front.value === label ? null : label)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function Chosen({ state }: { state: DigitsState }) {
  const pictures = state.pictures.value,
    components = state.components.value,
    chosen = state.chosen.value;
  const [, height, width] = pictures?.shape ?? [0, 28, 28];
  return (
    <section class="card settings" aria-label="The chosen picture">
      <h2>{pictures ? `Picture ${chosen + 1}: a ${pictures.labels[chosen]}` : 'The chosen picture'}</h2>
      <div class="pair-of-pictures">
        {pictures && components && (
          <>
            <figure>
              <Picture
                tiled={tile(
                  Float32Array.from(
                    pictures.images.subarray(chosen * height * width, (chosen + 1) * height * width),
                    (byte) => byte / 255,
                  ),
                  1,
                  [1, height, width],
                  gray,
                )}
                label={`A picture of the digit ${pictures.labels[chosen]}`}
              />
              <figcaption class="note">The picture</figcaption>
            </figure>
            <figure>
              <Picture
                tiled={tile(rebuilt(components, chosen), 1, [1, height, width], gray)}
                label={`The same picture from ${components.ratios.length} numbers`}
              />
              <figcaption class="note">From {components.ratios.length} numbers</figcaption>
            </figure>
          </>
        )}
      </div>
    </section>
  );
}

function DataPanel({ state }: { state: DigitsState }) {
  const { origin } = state;
  const option = (value: Origin, title: string, about: string) => (
    <label class="option">
      <input type="radio" name="origin" checked={origin.value === value} onChange={() => void state.use(value)} />
      <span>
        <b>{title}</b>
        <small>{about}</small>
      </span>
    </label>
  );
  return (
    <section class="card settings" aria-label="Pictures">
      <h2>Pictures</h2>
      <fieldset class="choices">
        <legend class="hidden">Pictures</legend>
        {option('built-in', 'Built-in digits', 'Drawn by the library. They look handwritten.')}
        {option('served', 'MNIST', 'From this server, if its machine has it.')}
      </fieldset>
      <label class="field">
        <span>Or select a file of MNIST’s pictures and one of its labels</span>
        <input
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            const files = [...(currentTarget.files ?? [])];
            currentTarget.value = ''; // so that picking the same files again is a change
            if (files.length) void state.use('files', files);
          }}
        />
      </label>
    </section>
  );
}

function ComponentsPanel({ state }: { state: DigitsState }) {
  const components = state.components.value,
    pictures = state.pictures.value;
  return (
    <section class="card settings" aria-label="Components">
      <h2>Components</h2>
      {components && pictures && (
        <>
          <div class="fields">
            <AxisField state={state} axis="across" title="Across" components={components} />
            <AxisField state={state} axis="down" title="Up" components={components} />
          </div>
          <ol class="components">
            {Array.from(components.ratios, (ratio, i) => (
              <li key={i} class={i === state.across.value || i === state.down.value ? 'used' : undefined}>
                <Picture
                  tiled={tile(
                    components.pictures.subarray(i * components.mean.length, (i + 1) * components.mean.length),
                    1,
                    [1, ...pictures.shape.slice(1)],
                    signed,
                  )}
                  label={`Component ${i + 1}: green is positive, red is negative`}
                />
                <span class="note">{percent(ratio)}</span>
              </li>
            ))}
          </ol>
          <p class="note">
            The parts of the variance. Together {percent(components.ratios.reduce((sum, ratio) => sum + ratio, 0))}.
          </p>
        </>
      )}
    </section>
  );
}

function AxisField({
  state,
  axis,
  title,
  components,
}: {
  state: DigitsState;
  axis: 'across' | 'down';
  title: string;
  components: Components;
}) {
  return (
    <label class="field">
      <span>{title}</span>
      <select value={state[axis].value} onChange={(event) => (state[axis].value = Number(event.currentTarget.value))}>
        {Array.from(components.ratios, (_, i) => (
          <option key={i} value={i}>
            Component {i + 1}
          </option>
        ))}
      </select>
    </label>
  );
}
