// SPDX-License-Identifier: MIT
// A plate with curves over steps or seconds.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { dark } from '../state/theme';

export type Table = uPlot.AlignedData;

export interface Curve {
  label: string;
  colour: string;
  width?: number;
  faint?: boolean;
  points?: boolean;
}

interface Props {
  title: string;
  curves: readonly Curve[];
  range: uPlot.Range.Function;
  text: (value: number) => string;
  table: () => Table;
  /** What the chart shows, in words. */
  says: string;
  /** Said as long as there is nothing to show; else nothing. */
  empty: string;
  /** Of what is shown: another one draws anew. */
  version: number;
  /** What x goes to at least. */
  span?: number;
}

/** Axes, without a curve: there are none around no x. */
export const NOTHING: Table = [[0, 50], [null, null], [null, null]];

const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function Chart({ title, curves, range, text, table, says, empty, version, span = 50 }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const node = place.current!;
    const axis = { stroke: colour('--ink-2'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false },
      font: '12px "Hanken Grotesk Variable", sans-serif' };
    const made = new uPlot({
      width: node.clientWidth, height: node.clientHeight,
      cursor: { y: false, points: { size: 7 } }, legend: { show: false }, padding: [8, 16, 0, 0],
      scales: { x: { time: false, range: (_, __, last) => [0, Math.max(last, span)] }, y: { range } },
      axes: [{ ...axis, space: 70, size: 28 }, { ...axis, size: 48, values: (_, ticks) => ticks.map((tick) => text(tick)) }],
      series: [{}, ...curves.map((curve): uPlot.Series => ({
        label: curve.label, stroke: colour(curve.colour), width: curve.width ?? 2, spanGaps: true,
        alpha: curve.faint ? 0.28 : 1, points: { show: curve.points ?? false, size: 6, fill: colour(curve.colour) },
      }))],
    }, table(), node);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: node.clientWidth, height: node.clientHeight }));
    observer.observe(node);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [dark.value]);
  useEffect(() => plot.current?.setData(table()), [version]);
  return (
    <section class="plate chart" aria-label={title}>
      <div class="plate-head">
        <h2>{title}</h2>
        <ul class="legend">
          {curves.map(({ label, colour, faint }) => (
            <li key={label} class={`key key${colour} ${faint ? 'key-faint' : ''}`}>{label}</li>
          ))}
        </ul>
      </div>
      <div class="plot-frame">
        <div ref={place} class="plot" role="img" aria-label={says} />
        {empty && <p class="empty">{empty}</p>}
      </div>
    </section>
  );
}
