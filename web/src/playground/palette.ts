// SPDX-License-Identifier: MIT
// The colors of classes, from the style sheet, and the sizes of canvases.

export type Rgb = readonly [red: number, green: number, blue: number];

function parse(text: string): Rgb {
  const hex = text.trim().replace('#', '');
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)) as unknown as Rgb;
}

/** The classes' colors, and those of the background and of text. All are written as #rrggbb. */
export function palette(element: Element): { classes: Rgb[]; background: Rgb; ink: Rgb } {
  const style = getComputedStyle(element),
    color = (name: string) => parse(style.getPropertyValue(name));
  return {
    classes: Array.from({ length: 10 }, (_, i) => color(`--class-${i}`)),
    background: color('--dish'),
    ink: color('--ink'),
  };
}

export const css = ([red, green, blue]: Rgb, alpha = 1): string => `rgb(${red} ${green} ${blue} / ${alpha})`;

/** Gives a canvas one pixel for each pixel of the screen. Returns its context, scaled to a side of 1, or null. */
export function square(canvas: HTMLCanvasElement): { ink: CanvasRenderingContext2D; side: number } | null {
  const side = canvas.clientWidth,
    pixels = Math.round(side * devicePixelRatio);
  if (!pixels) return null;
  if (canvas.width !== pixels) canvas.width = canvas.height = pixels;
  const ink = canvas.getContext('2d')!;
  ink.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  return { ink, side };
}
