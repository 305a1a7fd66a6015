// SPDX-License-Identifier: MIT
// What the first layer has learnt, and what a layer answers to the picture that is shown.
import { shapeText } from '../logic/format';
import { glow, signed, tile } from '../logic/tiles';
import type { Session } from '../state/session';
import type { Planes } from '../state/inspector';
import { Picture } from './picture';

/** Of the frame in which tiles are shown. */
const ASPECT = 2.2;

function Tiles({ planes, colour, label }: { planes: Planes; colour: typeof glow; label: string }) {
  return <Picture tiled={tile(planes.values, planes.count, planes.shape, colour, ASPECT * planes.shape[1] / planes.shape[2])} label={label} />;
}

export function Inside({ session }: { session: Session }) {
  const { filters, activations, layer, layers, chosen, tooMuch } = session.inspector;
  const hidden = session.network.value && (tooMuch.value || !layer.value);
  const learnt = filters.value, answers = activations.value, shown = layer.value;
  return (
    <>
      <section class="plate inside" aria-label="Filters of the first layer">
        <div class="plate-head">
          <h2>First-layer filters</h2>
          {learnt && <p class="note">{learnt.count} of {shapeText(learnt.shape)}</p>}
        </div>
        <div class="tiles">
          {learnt ? <Tiles planes={learnt} colour={signed} label={`${learnt.count} filters: green adds, red takes away`} />
            : <p class="empty">Weights as pictures.</p>}
        </div>
      </section>
      <section class="plate inside" aria-label="Activations">
        <div class="plate-head">
          <h2>Activations</h2>
          <label class="inline">
            <span class="hidden">Layer</span>
            <select value={shown?.name ?? ''} onChange={(event) => (chosen.value = event.currentTarget.value)}>
              {layers.value.map(({ name, shape }) => <option key={name} value={name}>{name} ({shapeText(shape)})</option>)}
            </select>
          </label>
        </div>
        <div class="tiles">
          {answers && shown ? <Tiles planes={answers} colour={glow} label={`What layer ${shown.name} gives for the picture`} />
            : <p class="empty">{hidden ? 'Too many values to show here.' : 'What a layer answers to the picture.'}</p>}
        </div>
      </section>
    </>
  );
}
