// SPDX-License-Identifier: MIT
// A card with curves over steps or seconds.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { count } from '../logic/format';
import { dark } from '../state/theme';

export type Table = uPlot.AlignedData;

export interface Curve {
  label: string;
  color: string;
  width?: number;
  points?: boolean;
}

interface Props {
  title: string;
  curves: readonly Curve[];
  range: uPlot.Range.Function;
  formatValue: (value: number) => string;
  table: () => Table;
  /** A description of the chart, for screen readers. */
  description: string;
  /** Shown while there is no data. Empty: nothing is shown. */
  emptyText: string;
  /** Changes with the data. The chart is then drawn again. */
  version: number | string;
  /** The name of x. */
  axis?: string;
  /** The least range of x. */
  span?: number;
  /** The range of x, from the last x. Without it, x begins at 0. */
  rangeOfX?: (last: number) => [number, number];
  /** For times in seconds. */
  formatX?: (value: number) => string;
}

/** Axes without a curve: uPlot draws none without x values. */
export const EMPTY_TABLE: Table = [
  [0, 50],
  [null, null],
  [null, null],
];

/** Distances of ticks in seconds, if x is a time: uPlot's own are powers of ten. */
const TIME_STEPS = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200].concat(
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((days) => 86400 * days),
);

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A curve's value at a point. Curves with fewer points have the value of the point before. */
function valueAt(values: Table[number], at: number, format: (value: number) => string): string {
  for (let i = at; i >= 0; --i) {
    const value = values[i];
    if (typeof value === 'number') return format(value);
  }
  return '–';
}

export function Chart(props: Props) {
  const {
    title,
    curves,
    range,
    formatValue,
    table,
    description,
    emptyText,
    version,
    axis: name,
    span = 50,
    formatX,
  } = props;
  /** The index of the point under the pointer. */
  const [at, point] = useState<number | null>(null);
  const rangeOfX = useRef(props.rangeOfX);
  rangeOfX.current = props.rangeOfX;
  const format = useRef(formatX);
  format.current = formatX;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const node = place.current!;
    const axis = {
      stroke: color('--ink-2'),
      grid: { stroke: color('--line'), width: 1 },
      ticks: { show: false },
      font: '12px "Hanken Grotesk Variable", sans-serif',
    };
    const plotted = new uPlot(
      {
        width: node.clientWidth,
        height: node.clientHeight,
        cursor: { y: false, points: { size: 7 } },
        hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? null)] },
        legend: { show: false },
        padding: [8, 16, 0, 0],
        scales: {
          x: { time: false, range: (_, __, last) => rangeOfX.current?.(last) ?? [0, Math.max(last, span)] },
          y: { range },
        },
        axes: [
          {
            ...axis,
            space: 70,
            size: 28,
            ...(name && { label: name, labelSize: 20, labelGap: -4, labelFont: axis.font }),
            ...(formatX && { incrs: TIME_STEPS, values: (_, ticks) => ticks.map((tick) => format.current!(tick)) }),
          },
          { ...axis, size: 48, values: (_, ticks) => ticks.map((tick) => formatValue(tick)) },
        ],
        series: [
          {},
          ...curves.map((curve): uPlot.Series => ({
            label: curve.label,
            stroke: color(curve.color),
            width: curve.width ?? 2,
            spanGaps: true,
            points: { show: curve.points ?? false, size: 6, fill: color(curve.color) },
          })),
        ],
      },
      table(),
      node,
    );
    plot.current = plotted;
    // uPlot follows the mouse. This shows the values where a finger taps.
    plotted.over.addEventListener('click', ({ clientX }) => {
      const left = clientX - plotted.over.getBoundingClientRect().left;
      setTimeout(() => plotted.setCursor({ left, top: 0 }));
    });
    const observer = new ResizeObserver(() => plotted.setSize({ width: node.clientWidth, height: node.clientHeight }));
    observer.observe(node);
    return () => {
      observer.disconnect();
      plotted.destroy();
    };
  }, [dark.value]);
  useEffect(() => plot.current?.setData(table()), [version]);
  const shown = at === null ? null : table();
  const pointed = name && shown !== EMPTY_TABLE ? shown?.[0][at!] : undefined;
  return (
    <section class="card chart" aria-label={title}>
      <div class="card-header">
        <h2>{title}</h2>
        <ul class="legend">
          {pointed !== undefined && (
            <li>
              {name} <output>{(formatX ?? count)(pointed)}</output>
            </li>
          )}
          {curves.map(({ label, color }, i) => (
            <li key={label} class={`key key${color}`}>
              {label} {pointed !== undefined && <output>{valueAt(shown![i + 1], at!, formatValue)}</output>}
            </li>
          ))}
        </ul>
      </div>
      <div class="plot-frame">
        <div ref={place} class="plot" role="img" aria-label={description} />
        {emptyText && <p class="empty">{emptyText}</p>}
      </div>
    </section>
  );
}
