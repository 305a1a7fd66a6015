// SPDX-License-Identifier: MIT
// The network as a diagram from left to right, with the shape of each layer's output.
import type { LayerSummary } from 'kaiseki';
import { compact, count, shapeText } from '../logic/format';
import { layout, type Layer, type Placed } from '../logic/layout';
import type { Session } from '../state/session';

type Node = Layer & Partial<LayerSummary>;

const WIDTH = 112,
  HEIGHT = 132,
  GAP = 20,
  MARGIN = 2;

/** With more layers the diagram is unreadable and the page slow. */
const MAX_LAYERS = 500;

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^input$/, 'input'],
  [/convolution/, 'convolution'],
  [/pool/, 'pooling'],
  [/fully/, 'full'],
  [/normalization/, 'normalization'],
  [/cross_entropy|squared/, 'loss'],
];
const kindOf = (type: string) => KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? 'other';

/** The inputs and all layers, with shapes where the library reports them. */
function nodesOf(json: object, layers: readonly LayerSummary[]): Node[] {
  const { inputs, layers: described } = json as {
    inputs: Record<string, { shape: number[] }>;
    layers: { name: string; type: string; inputs?: string | string[] }[];
  };
  const first = Object.keys(inputs),
    told = new Map(layers.map((layer) => [layer.name, layer]));
  return [
    ...first.map((name) => ({ name, type: 'input', inputs: [], shape: inputs[name].shape })),
    ...described.map((layer, i) => ({
      ...told.get(layer.name),
      name: layer.name,
      type: layer.type,
      inputs: [layer.inputs ?? described[i - 1]?.name ?? first[0]].flat(),
    })),
  ];
}

/** A stack of planes in proportion to the shape, or a column for a vector. */
function Glyph({ shape }: { shape: readonly number[] }) {
  const [channels, height = 1, width = 1] = shape;
  const size = (dim: number) => Math.min(44, 6 + 7 * Math.log2(dim));
  if (height * width === 1) {
    const tall = Math.min(56, 8 + 6 * Math.log2(channels));
    return <rect class="glyph" x={-4} y={-tall / 2} width={8} height={tall} rx={3} />;
  }
  const deep = Math.min(6, 1 + Math.floor(Math.log2(channels) / 1.5)),
    shift = 3.2;
  const across = size(width),
    down = size(height);
  return (
    <>
      {Array.from({ length: deep }, (_, i) => (
        <rect
          key={i}
          class="glyph"
          width={across}
          height={down}
          rx={2.5}
          x={-across / 2 + ((deep - 1 - 2 * i) * shift) / 2}
          y={-down / 2 - ((deep - 1 - 2 * i) * shift) / 2}
        />
      ))}
    </>
  );
}

function Box({ node, chosen, choose }: { node: Placed<Node>; chosen: boolean; choose?: () => void }) {
  const { name, type, shape, parameters } = node.layer;
  const x = MARGIN + node.column * (WIDTH + GAP),
    y = MARGIN + node.row * (HEIGHT + GAP);
  const short = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  return (
    <g
      class={`node kind-${kindOf(type)} ${chosen ? 'chosen' : ''} ${choose ? 'can' : ''}`}
      transform={`translate(${x} ${y})`}
      onClick={choose}
    >
      <title>{`${name} (${type})${shape?.length ? `: ${shapeText(shape)}` : ''}`}</title>
      <rect class="box" width={WIDTH} height={HEIGHT} rx={12} />
      <g transform={`translate(${WIDTH / 2} 38)`}>{shape?.length ? <Glyph shape={shape} /> : null}</g>
      <text class="node-name" x={WIDTH / 2} y={86}>
        {short(name, 15)}
      </text>
      <text x={WIDTH / 2} y={102}>
        {short(type.replaceAll('_', ' '), 18)}
      </text>
      <text class="node-shape" x={WIDTH / 2} y={119}>
        {shape ? shapeText(shape) : ''}
      </text>
      {Boolean(parameters) && (
        <text class="node-weights" x={WIDTH - 9} y={17}>
          {compact(parameters!)}
        </text>
      )}
    </g>
  );
}

export function Diagram({ session }: { session: Session }) {
  const network = session.network.value;
  const { chosen, layer, layers } = session.inspector;
  if (!network) return null;
  const parameters = network.layers.reduce((sum, one) => sum + one.parameters, 0);
  const head = (note: string) => (
    <div class="card-header">
      <h2>The network</h2>
      <p class="note">
        {compact(parameters)} weights; {note}
      </p>
    </div>
  );
  if (network.layers.length > MAX_LAYERS)
    return (
      <section class="card diagram" aria-label="Diagram of the network">
        {head(
          `${count(network.layers.length)} layers are too many for a diagram; select a layer in the list next to Activations`,
        )}
      </section>
    );
  const { nodes, edges, columns, rows } = layout(nodesOf(network.json, network.layers));
  const width = 2 * MARGIN + columns * (WIDTH + GAP) - GAP,
    height = 2 * MARGIN + rows * (HEIGHT + GAP) - GAP;
  const words = nodes
    .map(({ layer: { name, type, shape } }) => `${name}, ${type}${shape?.length ? `, ${shapeText(shape)}` : ''}`)
    .join('; ');
  const offered = new Set(layers.value.map(({ name }) => name));
  const middle = ({ row }: Placed<Node>) => MARGIN + row * (HEIGHT + GAP) + HEIGHT / 2;
  return (
    <section class="card diagram" aria-label="Diagram of the network">
      {head('select a layer here, or in the list next to Activations, to see its output')}
      <div class="scroll" tabIndex={0} role="group" aria-label="The network’s layers; scrolls sideways">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words}>
          {edges.map(({ from, to }) => {
            const x0 = MARGIN + from.column * (WIDTH + GAP) + WIDTH,
              x1 = MARGIN + to.column * (WIDTH + GAP);
            const y0 = middle(from),
              y1 = middle(to),
              bend = (x1 - x0) / 2;
            return (
              <path
                class="edge"
                key={`${from.layer.name}>${to.layer.name}`}
                d={`M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`}
              />
            );
          })}
          {nodes.map((node) => (
            <Box
              key={node.layer.name}
              node={node}
              chosen={layer.value?.name === node.layer.name}
              choose={offered.has(node.layer.name) ? () => (chosen.value = node.layer.name) : undefined}
            />
          ))}
        </svg>
      </div>
    </section>
  );
}
