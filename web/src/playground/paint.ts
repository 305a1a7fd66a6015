// SPDX-License-Identifier: MIT
// Paints the plane: the decision function, lines, ellipses, centers, points and the cursor of the keyboard.
import { paintField, type Field } from '../logic/field';
import type { Point } from '../logic/presets';
import type { Drawing, Fitted } from './answers';
import { css, type Rgb } from './palette';

export interface Look {
  classes: readonly Rgb[];
  background: Rgb;
  ink: Rgb;
}

type Ink = CanvasRenderingContext2D;

/** The shape of each class's points, so that color is not the only difference. */
export function mark(ink: Ink, label: number, x: number, y: number, size: number): void {
  ink.beginPath();
  switch (label % 4) {
    case 0:
      ink.arc(x, y, size, 0, 2 * Math.PI);
      break;
    case 1:
      ink.rect(x - 0.88 * size, y - 0.88 * size, 1.76 * size, 1.76 * size);
      break;
    case 2:
      ink.moveTo(x, y - 1.25 * size);
      ink.lineTo(x + 1.1 * size, y + 0.75 * size);
      ink.lineTo(x - 1.1 * size, y + 0.75 * size);
      ink.closePath();
      break;
    default:
      ink.moveTo(x, y - 1.3 * size);
      ink.lineTo(x + 1.3 * size, y);
      ink.lineTo(x, y + 1.3 * size);
      ink.lineTo(x - 1.3 * size, y);
      ink.closePath();
  }
}

let small: HTMLCanvasElement | undefined;

function paintBackground(ink: Ink, side: number, field: Field | undefined, look: Look): void {
  ink.fillStyle = css(look.background);
  ink.fillRect(0, 0, side, side);
  if (!field) return;
  small ??= document.createElement('canvas');
  small.width = small.height = field.side;
  const pixels = paintField(field, look.classes, look.background);
  small.getContext('2d')!.putImageData(new ImageData(pixels, field.side, field.side), 0, 0);
  ink.imageSmoothingQuality = 'high';
  ink.drawImage(small, 0, 0, side, side);
}

function paintAxes(ink: Ink, side: number, look: Look): void {
  ink.strokeStyle = css(look.ink, 0.16);
  ink.lineWidth = 1;
  ink.beginPath();
  ink.moveTo(side / 2, 0);
  ink.lineTo(side / 2, side);
  ink.moveTo(0, side / 2);
  ink.lineTo(side, side / 2);
  ink.stroke();
}

function paintSegments(ink: Ink, side: number, segments: readonly number[], width: number): void {
  ink.lineWidth = width;
  ink.beginPath();
  for (let i = 0; i < segments.length; i += 4) {
    ink.moveTo(side * segments[i], side * segments[i + 1]);
    ink.lineTo(side * segments[i + 2], side * segments[i + 3]);
  }
  ink.stroke();
}

export interface Scene {
  points: readonly Point[];
  fitted: Fitted | null;
  drawing: Drawing | null;
  /** The place of the keyboard's cursor, if it is shown. */
  cursor: { x: number; y: number } | null;
}

export function paintPlane(ink: Ink, side: number, { points, fitted, drawing, cursor }: Scene, look: Look): void {
  const across = (x: number) => (side * (x + 1)) / 2,
    down = (y: number) => (side * (1 - y)) / 2,
    size = Math.max(4, side / 110);
  paintBackground(ink, side, drawing?.field, look);
  paintAxes(ink, side, look);
  if (drawing) {
    ink.strokeStyle = css(look.ink, 0.9);
    paintSegments(ink, side, drawing.boundary, 2.2);
    ink.strokeStyle = css(look.ink, 0.4);
    paintSegments(ink, side, drawing.margin, 1.5);
  }
  const clusters = fitted?.clusters.length === points.length ? fitted.clusters : null;
  points.forEach(({ x, y, label }, i) => {
    mark(ink, label, across(x), down(y), size);
    ink.fillStyle = css(look.classes[(clusters ? clusters[i] : label) % look.classes.length]);
    ink.fill();
    ink.strokeStyle = css(look.background);
    ink.lineWidth = 1.2;
    ink.stroke();
  });
  fitted?.ellipses.forEach(({ x, y, wide, narrow, angle }) => {
    ink.strokeStyle = css(look.ink, 0.9);
    ink.lineWidth = 1.6;
    for (const deviations of [1, 2]) {
      const [a, b] = [wide, narrow].map((radius) => (side * deviations * radius) / 2);
      ink.beginPath();
      ink.ellipse(across(x), down(y), a, b, -angle, 0, 2 * Math.PI);
      ink.stroke();
    }
  });
  const centers = fitted?.centers ?? [];
  for (let i = 0; i < centers.length; i += 2)
    paintCross(ink, across(centers[i]), down(centers[i + 1]), 1.9 * size, look);
  if (cursor) paintCursor(ink, across(cursor.x), down(cursor.y), look);
}

/** A center of k-means: a cross with an outline. */
function paintCross(ink: Ink, x: number, y: number, size: number, look: Look): void {
  ink.lineCap = 'round';
  for (const [color, width] of [
    [look.background, 7],
    [look.ink, 3.4],
  ] as const) {
    ink.strokeStyle = css(color);
    ink.lineWidth = width;
    ink.beginPath();
    ink.moveTo(x - size, y - size);
    ink.lineTo(x + size, y + size);
    ink.moveTo(x + size, y - size);
    ink.lineTo(x - size, y + size);
    ink.stroke();
  }
  ink.lineCap = 'butt';
}

function paintCursor(ink: Ink, x: number, y: number, look: Look): void {
  for (const [color, width] of [
    [look.background, 5],
    [look.ink, 2],
  ] as const) {
    ink.strokeStyle = css(color);
    ink.lineWidth = width;
    ink.beginPath();
    ink.arc(x, y, 11, 0, 2 * Math.PI);
    for (const [dx, dy] of [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ]) {
      ink.moveTo(x + 7 * dx, y + 7 * dy);
      ink.lineTo(x + 16 * dx, y + 16 * dy);
    }
    ink.stroke();
  }
}
