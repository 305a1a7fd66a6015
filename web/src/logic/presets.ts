// SPDX-License-Identifier: MIT
// Sets of points in the square from -1 to 1. The same seed gives the same points.

export interface Point {
  x: number;
  y: number;
  /** The class, from 0. */
  label: number;
}

/** The most points on the plane, so that every model answers at once. */
export const MOST_POINTS = 600;
const EDGE = 0.98;

/** Returns a generator of numbers in [0, 1): xorshift with 32 bits. */
export function generator(seed: number): () => number {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ 0x85ebca6b) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Returns a generator of numbers with a normal distribution. */
function normals(random: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

type Maker = (index: number, uniform: () => number, normal: () => number) => Point;

const moons: Maker = (i, uniform, normal) => {
  const label = i % 2,
    angle = Math.PI * uniform(),
    side = label ? -1 : 1;
  return {
    x: 0.52 * side * Math.cos(angle) + 0.26 * (label ? 1 : -1) + 0.06 * normal(),
    y: 0.62 * side * Math.sin(angle) - 0.16 * side + 0.06 * normal(),
    label,
  };
};

const circles: Maker = (i, uniform, normal) => {
  const label = i % 2,
    angle = 2 * Math.PI * uniform(),
    radius = (label ? 0.34 : 0.8) + 0.05 * normal();
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle), label };
};

const BLOBS = [
  [-0.5, 0.42, 0.13],
  [0.48, 0.5, 0.17],
  [0.02, -0.48, 0.15],
] as const;
const blobs: Maker = (i, _, normal) => {
  const label = i % BLOBS.length,
    [x, y, size] = BLOBS[label];
  return { x: x + size * normal(), y: y + size * normal(), label };
};

const xor: Maker = (i, uniform) => {
  const right = i % 2,
    top = (i >> 1) % 2,
    place = () => 0.1 + 0.75 * uniform();
  return { x: place() * (right ? 1 : -1), y: place() * (top ? 1 : -1), label: right ^ top };
};

const STRIPES = 4;
const stripes: Maker = (i, uniform, normal) => {
  const stripe = i % STRIPES,
    along = 1.7 * (uniform() - 0.5),
    across = 0.44 * (stripe - (STRIPES - 1) / 2) + 0.055 * normal();
  return { x: across + 0.18 * along, y: along, label: stripe % 3 };
};

export const PRESETS = {
  moons: { name: 'Moons', count: 160, make: moons },
  circles: { name: 'Circles', count: 160, make: circles },
  blobs: { name: 'Blobs', count: 150, make: blobs },
  xor: { name: 'XOR', count: 160, make: xor },
  stripes: { name: 'Stripes', count: 160, make: stripes },
} as const;
export type Preset = keyof typeof PRESETS;

const within = (value: number) => Math.max(-EDGE, Math.min(EDGE, value));

export function makePoints(preset: Preset, seed: number): Point[] {
  const { count, make } = PRESETS[preset],
    uniform = generator(seed),
    normal = normals(uniform);
  return Array.from({ length: count }, (_, i) => {
    const { x, y, label } = make(i, uniform, normal);
    return { x: within(x), y: within(y), label };
  });
}

/** Returns the index of the nearest point within `reach`, or -1. */
export function nearest(
  points: readonly { x: number; y: number }[],
  at: { x: number; y: number },
  reach = Infinity,
): number {
  let best = -1,
    least = reach;
  points.forEach(({ x, y }, i) => {
    const distance = Math.hypot(x - at.x, y - at.y);
    if (distance <= least) [best, least] = [i, distance];
  });
  return best;
}
