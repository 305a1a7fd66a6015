// SPDX-License-Identifier: MIT
import { useRef } from 'preact/hooks';
import { Login } from '../console/login';
import { ACROSS, DOWN, INPUTS, SIDE, paint } from '../logic/mandelbrot';
import { Alert } from '../parts/alert';
import { Icon } from '../parts/icon';
import { Masthead } from '../parts/masthead';
import { Progress } from '../parts/progress';
import type { Author } from './author';

const TILES = INPUTS.length;

function Picture({ author }: { author: Author }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { computing, done, failed, problem } = author;
  const compute = () => {
    const place = canvas.current!.getContext('2d')!;
    place.clearRect(0, 0, ACROSS * SIDE, DOWN * SIDE);
    void author.compute((tile, bytes) =>
      place.putImageData(paint(bytes), SIDE * (tile % ACROSS), SIDE * Math.floor(tile / ACROSS)),
    );
  };
  const how = `${done.value} of ${TILES} tiles`;
  return (
    <section class="card mandelbrot-card" aria-label="The picture">
      <div class="card-header">
        <button class="button main" disabled={computing.value} onClick={compute}>
          <Icon name="play" /> Compute
        </button>
        <p class="note" role="status">
          {author.status.value}
        </p>
        <p class="note">{how}</p>
      </div>
      <Alert texts={[problem.value]} />
      <Progress
        parts={[
          ['done', done.value],
          ['dead', failed.value],
        ]}
        total={TILES}
        description={how}
      />
      <canvas
        ref={canvas}
        class="mandelbrot-picture"
        width={ACROSS * SIDE}
        height={DOWN * SIDE}
        role="img"
        aria-label={`The Mandelbrot set, ${how}`}
      />
    </section>
  );
}

export function App({ author }: { author: Author }) {
  return (
    <>
      <Masthead title="The Mandelbrot set, tile by tile" />
      <main class="mandelbrot">{author.api.value ? <Picture author={author} /> : <Login pool={author} />}</main>
      <footer>{location.host}</footer>
    </>
  );
}
