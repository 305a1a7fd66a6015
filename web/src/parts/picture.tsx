// SPDX-License-Identifier: MIT
// Draws pixels on a canvas, one canvas pixel each. The style sheet scales it without smoothing.
import { useEffect, useRef } from 'preact/hooks';
import type { Tiled } from '../logic/tiles';

export function Picture({ tiled, label, className = '' }: { tiled: Tiled; label: string; className?: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    canvas.current!.getContext('2d')!.putImageData(new ImageData(tiled.pixels, tiled.width, tiled.height), 0, 0);
  }, [tiled]);
  return (
    <canvas
      ref={canvas}
      class={`pixels ${className}`}
      width={tiled.width}
      height={tiled.height}
      role="img"
      aria-label={label}
    />
  );
}
