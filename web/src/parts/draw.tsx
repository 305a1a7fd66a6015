// SPDX-License-Identifier: MIT
// A canvas to draw a digit, or a picture of the test set, and the network's prediction during training.
import { useEffect, useRef } from 'preact/hooks';
import { center, SIDE } from '../logic/center';
import { percent } from '../logic/format';
import { barLengths, givesProbabilities, output } from '../logic/prediction';
import { gray, tile } from '../logic/tiles';
import type { Session } from '../state/session';
import { Icon } from './icon';
import { Picture } from './picture';

const PAPER = 280;
const PEN = 20;

export function Draw({ session }: { session: Session }) {
  const { inspector, data } = session;
  const paper = useRef<HTMLCanvasElement>(null);
  const pen = useRef<{ id: number; last: readonly [number, number] } | null>(null);
  const shown = inspector.picture.value;
  const drawable = data.value?.digits ?? true;
  const title = drawable ? 'Draw a digit' : 'A test picture';
  const drawn = shown !== null && shown.label === undefined;

  const clearPicture = () => paper.current?.getContext('2d')?.clearRect(0, 0, PAPER, PAPER);
  useEffect(() => {
    if (!drawn) clearPicture();
  }, [drawn]);

  const read = () => {
    const { data: rgba } = paper.current!.getContext('2d')!.getImageData(0, 0, PAPER, PAPER);
    const pixels = center(
      Uint8Array.from({ length: PAPER * PAPER }, (_, i) => rgba[4 * i + 3]),
      PAPER,
    );
    if (pixels) inspector.picture.value = { pixels, shape: [1, SIDE, SIDE] };
  };
  const at = (event: PointerEvent): readonly [number, number] => {
    const box = paper.current!.getBoundingClientRect();
    return [((event.clientX - box.left) * PAPER) / box.width, ((event.clientY - box.top) * PAPER) / box.height];
  };
  const stroke = (from: readonly [number, number], to: readonly [number, number]) => {
    const ink = paper.current!.getContext('2d', { willReadFrequently: true })!;
    ink.lineWidth = PEN;
    ink.lineCap = ink.lineJoin = 'round';
    ink.strokeStyle = '#fff';
    ink.beginPath();
    ink.moveTo(...from);
    ink.lineTo(...to);
    ink.stroke();
  };
  const down = (event: PointerEvent) => {
    if (!event.isPrimary || event.button) return;
    paper.current!.setPointerCapture(event.pointerId);
    if (!drawn) clearPicture();
    const last = at(event);
    pen.current = { id: event.pointerId, last };
    stroke(last, last);
    read();
  };
  const move = (event: PointerEvent) => {
    if (pen.current?.id !== event.pointerId) return;
    const next = at(event);
    stroke(pen.current.last, next);
    pen.current.last = next;
    read();
  };
  const up = (event: PointerEvent) => {
    if (pen.current?.id === event.pointerId) pen.current = null;
  };

  return (
    <section class="card draw" aria-label={title}>
      <div class="card-header">
        <h2>{title}</h2>
      </div>
      <div class="draw-body">
        <div class="easel">
          <div class="paper">
            {shown && !drawn && (
              <Picture
                tiled={tile(shown.pixels, 1, shown.shape, gray)}
                className="sample"
                label={`A picture of the test set: ${data.value?.classes[shown.label!] ?? shown.label}`}
              />
            )}
            <canvas
              ref={paper}
              class="pen"
              hidden={!drawable}
              width={PAPER}
              height={PAPER}
              role="img"
              aria-label="Draw here with a finger, a pen or the mouse"
              onPointerDown={down}
              onPointerMove={move}
              onPointerUp={up}
              onPointerCancel={up}
            />
            {drawable && !drawn && (
              <p class="hint" aria-hidden="true">
                Draw here
              </p>
            )}
          </div>
          <div class="row">
            <button class="button grow" onClick={() => void inspector.sample()} disabled={!data.value}>
              <Icon name="dice" /> Test picture
            </button>
            <button
              class="button"
              onClick={() => {
                clearPicture();
                inspector.clearPicture();
              }}
              disabled={!drawn}
              aria-label="Clear the drawing"
              title="Clear"
            >
              <Icon name="clear" />
            </button>
          </div>
        </div>
        <Predictions session={session} />
      </div>
    </section>
  );
}

/** The predicted probabilities, or the outputs as numbers if the network does not compute probabilities. */
function Predictions({ session }: { session: Session }) {
  const { inspector, data } = session;
  const values = inspector.prediction.value;
  const shares = givesProbabilities(session.network.value?.layers ?? []);
  const text = shares ? (value: number) => percent(value, 0) : output;
  const lengths = values && (shares ? values : barLengths(values));
  const count = values?.length ?? session.network.value?.outputShape[0] ?? 10;
  const classes = data.value?.classes ?? [];
  const best = values ? values.reduce((best, value, i) => (value > values[best] ? i : best), 0) : -1;
  const truth = inspector.picture.value?.label;
  return (
    <div class="prediction">
      {!shares && <p class="note">Outputs. Without a loss layer or softmax they are no probabilities.</p>}
      <ol class="probabilities" aria-label={shares ? 'Probabilities of the classes' : 'Outputs for the classes'}>
        {Array.from({ length: Math.min(count, 20) }, (_, i) => (
          <li key={i} class={`${i === best ? 'best' : ''} ${i === truth ? 'truth' : ''}`}>
            <span class="class">{classes[i] ?? i}</span>
            <span class="bar">
              <span style={{ width: `${100 * (lengths?.[i] ?? 0)}%` }} />
            </span>
            <span class="share">{values ? text(values[i]) : '–'}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
