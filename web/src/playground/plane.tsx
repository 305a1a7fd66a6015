// SPDX-License-Identifier: MIT
// The plane: points are drawn with the pointer or the keyboard, in front of the decision function.
import { useEffect, useRef, useState } from 'preact/hooks';
import { percent, plural } from '../logic/format';
import { Alert } from '../parts/alert';
import { Icon } from '../parts/icon';
import { dark } from '../state/theme';
import { paintPlane } from './paint';
import { palette, square } from './palette';
import { CLASSES, type PlaneState } from './plane-state';

interface Place {
  x: number;
  y: number;
}

/** While the pointer is dragged, a point is added after this distance in the plane. */
const SPACING = 0.075;
const STEP = 0.05;
const KEYS: Record<string, readonly [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

const within = (value: number) => Math.max(-1, Math.min(1, value));

/** Changes if the size of the element changes. */
function useSize(element: { current: HTMLElement | null }): number {
  const [size, setSize] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(() => setSize(element.current?.clientWidth ?? 0));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return size;
}

export function Plane({ state }: { state: PlaneState }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ id: number; last: Place } | null>(null);
  const [cursor, setCursor] = useState<Place>({ x: 0, y: 0 });
  const [byKey, setByKey] = useState(false);
  const [said, say] = useState('');
  const size = useSize(canvas);
  const { points, fitted, drawing, lack, problem, model } = state;

  useEffect(() => {
    const paper = square(canvas.current!);
    if (!paper) return;
    const scene = { points: points.value, fitted: fitted.value, drawing: drawing.value, cursor: byKey ? cursor : null };
    paintPlane(paper.ink, paper.side, scene, palette(canvas.current!));
  }, [points.value, fitted.value, drawing.value, byKey, cursor, size, dark.value]);

  const at = (event: PointerEvent): Place => {
    const box = canvas.current!.getBoundingClientRect();
    return {
      x: within((2 * (event.clientX - box.left)) / box.width - 1),
      y: within(1 - (2 * (event.clientY - box.top)) / box.height),
    };
  };
  const down = (event: PointerEvent) => {
    if (!event.isPrimary || event.button) return;
    canvas.current!.setPointerCapture(event.pointerId);
    const last = at(event);
    drag.current = { id: event.pointerId, last };
    setByKey(false);
    setCursor(last);
    state.use(last);
  };
  const move = (event: PointerEvent) => {
    if (drag.current?.id !== event.pointerId) return;
    const next = at(event),
      { last } = drag.current;
    if (Math.hypot(next.x - last.x, next.y - last.y) < SPACING) return;
    drag.current.last = next;
    state.use(next);
  };
  const up = (event: PointerEvent) => {
    if (drag.current?.id === event.pointerId) drag.current = null;
  };
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = KEYS[event.key],
      digit = Number(event.key);
    if (step) {
      const length = event.shiftKey ? 4 * STEP : STEP;
      setCursor({ x: within(cursor.x + length * step[0]), y: within(cursor.y + length * step[1]) });
    } else if (event.key === 'Enter' || event.key === ' ') {
      say(state.use(cursor));
    } else if (digit >= 1 && digit <= CLASSES) {
      state.tool.value = digit - 1;
      say(`Class ${digit}`);
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      const tool = state.tool.value;
      state.tool.value = 'eraser';
      say(state.use(cursor));
      state.tool.value = tool;
    } else return;
    event.preventDefault();
    setByKey(true);
  };

  return (
    <section class="card plane-card" aria-label="The plane">
      <Tools state={state} />
      <canvas
        ref={canvas}
        class="plane"
        tabIndex={0}
        role="application"
        aria-label={`The plane with ${plural(points.value.length, 'point')}, and the decisions of ${model.value.title}`}
        aria-describedby="plane-keys"
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={up}
        onKeyDown={key}
        onBlur={() => setByKey(false)}
      />
      <Alert texts={[problem.value]} />
      <Figures state={state} />
      <p class="note" role="status">
        {lack.value}
      </p>
      <p id="plane-keys" class="note keys">
        With the keyboard: arrows move, Enter adds, 1 to {CLASSES} choose the class, Delete removes.
      </p>
      <p class="hidden" role="log">
        {said}
      </p>
    </section>
  );
}

function Tools({ state }: { state: PlaneState }) {
  const { tool } = state;
  return (
    <div class="tools">
      <fieldset class="marks">
        <legend class="hidden">What the pointer draws</legend>
        {Array.from({ length: CLASSES }, (_, label) => (
          <label key={label} class="mark-option">
            <input type="radio" name="tool" checked={tool.value === label} onChange={() => (tool.value = label)} />
            <svg class={`mark mark-${label}`} viewBox="0 0 20 20" width="22" height="22" aria-hidden="true">
              <path d={SHAPES[label]} />
            </svg>
            <span class="hidden">Class {label + 1}</span>
          </label>
        ))}
        <label class="mark-option eraser">
          <input type="radio" name="tool" checked={tool.value === 'eraser'} onChange={() => (tool.value = 'eraser')} />
          <span>Erase</span>
        </label>
      </fieldset>
      <button
        class="button quiet"
        onClick={() => state.clear()}
        disabled={!state.points.value.length}
        aria-label="Clear"
        title="Clear"
      >
        <Icon name="clear" />
      </button>
    </div>
  );
}

/** The shapes of paint.ts, for the buttons. */
const SHAPES = [
  'M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12z',
  'M4.7 4.7h10.6v10.6H4.7z',
  'M10 3l6.8 12.2H3.2z',
  'M10 2.4L17.6 10 10 17.6 2.4 10z',
];

function Figures({ state }: { state: PlaneState }) {
  const fitted = state.fitted.value,
    name = state.name.value;
  const score = fitted?.score ?? null;
  let label = 'Accuracy',
    text = score === null ? '–' : percent(score);
  if (name === 'KMeans') [label, text] = ['Inertia', score === null ? '–' : (-score).toFixed(2)];
  if (name === 'GaussianMixture') [label, text] = ['Log likelihood', score === null ? '–' : score.toFixed(2)];
  return (
    <dl class="stats">
      <div class="stat-good">
        <dt>{label}</dt>
        <dd>{text}</dd>
      </div>
      <div>
        <dt>Points</dt>
        <dd>{state.points.value.length}</dd>
      </div>
      <div>
        <dt>Fitted in</dt>
        <dd>
          {fitted
            ? `${fitted.milliseconds < 10 ? fitted.milliseconds.toFixed(1) : Math.round(fitted.milliseconds)} ms`
            : '–'}
        </dd>
      </div>
    </dl>
  );
}
