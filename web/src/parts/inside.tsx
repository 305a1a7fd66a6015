// SPDX-License-Identifier: MIT
// The weights of the first layer, and a layer's activations for the current picture.
import { shapeText } from '../logic/format';
import { glow, signed, tile } from '../logic/tiles';
import type { Session } from '../state/session';
import type { Planes } from '../state/inspector';
import { Picture } from './picture';

/** The frame's width divided by its height. */
const ASPECT = 2.2;

function Tiles({ planes, color, label }: { planes: Planes; color: typeof glow; label: string }) {
  return (
    <Picture
      tiled={tile(planes.values, planes.count, planes.shape, color, (ASPECT * planes.shape[1]) / planes.shape[2])}
      label={label}
    />
  );
}

export function Inside({ session }: { session: Session }) {
  const { filters, activations, layer, layers, chosen, tooLarge } = session.inspector;
  const hidden = session.network.value && (tooLarge.value || !layer.value);
  const learned = filters.value,
    answers = activations.value,
    shown = layer.value;
  return (
    <>
      <section class="card inside" aria-label="Filters of the first layer">
        <div class="card-header">
          <h2>First-layer filters</h2>
          {learned && (
            <p class="note">
              {learned.count} of {shapeText(learned.shape)}
            </p>
          )}
        </div>
        <div class="tiles">
          {learned ? (
            <Tiles
              planes={learned}
              color={signed}
              label={`${learned.count} filters: green is positive, red is negative`}
            />
          ) : (
            <p class="empty">The weights appear here as pictures.</p>
          )}
        </div>
      </section>
      <section class="card inside" aria-label="Activations">
        <div class="card-header">
          <h2>Activations</h2>
          <label class="inline">
            <span class="hidden">Layer</span>
            <select value={shown?.name ?? ''} onChange={(event) => (chosen.value = event.currentTarget.value)}>
              {layers.value.map(({ name, shape }) => (
                <option key={name} value={name}>
                  {name} ({shapeText(shape)})
                </option>
              ))}
            </select>
          </label>
        </div>
        <div class="tiles">
          {answers && shown ? (
            <Tiles planes={answers} color={glow} label={`The output of layer ${shown.name} for the picture`} />
          ) : (
            <p class="empty">
              {hidden ? 'Too many values to show here.' : 'The output of a layer for the picture appears here.'}
            </p>
          )}
        </div>
      </section>
    </>
  );
}
