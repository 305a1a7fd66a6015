// SPDX-License-Identifier: MIT
// Formats numbers for the page.

export const count = (value: number): string => Math.round(value).toLocaleString('en');

export const percent = (share: number, digits = 1): string =>
  Number.isFinite(share) ? `${(100 * share).toFixed(digits)}%` : '–';

export const plural = (value: number, one: string): string => `${count(value)} ${one}${value === 1 ? '' : 's'}`;

/** 0:07, 12:34, 1:02:03 */
export function duration(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60),
    hours = Math.floor(minutes / 60);
  return hours ? `${hours}:${two(minutes % 60)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** 850, 4.3k, 61M */
export function compact(value: number): string {
  if (value < 1000) return String(Math.round(value));
  for (const [size, unit] of [
    [1e3, 'k'],
    [1e6, 'M'],
    [1e9, 'G'],
  ] as const)
    if (value < 999.5 * size)
      return `${(value / size).toPrecision(value < 10 * size ? 2 : 3).replace(/\.0$/, '')}${unit}`;
  return value.toPrecision(2);
}

/** 1 × 28 × 28 */
export const shapeText = (shape: readonly number[]): string => shape.join(' × ');

/** Two significant digits, without an exponent if that is short. */
export const rate = (value: number): string => String(Number(value.toPrecision(2)));

/** 0 kB, 12.3 kB, 4.56 MB */
export function bytes(value: number): string {
  for (const [size, unit] of [
    [1e9, 'GB'],
    [1e6, 'MB'],
  ] as const)
    if (value >= 0.9995 * size) return `${(value / size).toPrecision(3)} ${unit}`;
  return `${value < 99_950 ? (value / 1000).toFixed(1) : Math.round(value / 1000)} kB`;
}

/** "just now", "12 s ago", "5 min ago", "3 h ago", "2 days ago" */
export function ago(seconds: number): string {
  if (seconds < 3) return 'just now';
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400
    ? `${Math.floor(seconds / 3600)} h ago`
    : `${plural(Math.floor(seconds / 86_400), 'day')} ago`;
}
