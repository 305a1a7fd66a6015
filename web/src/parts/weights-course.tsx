// SPDX-License-Identifier: MIT
import { useRef } from 'preact/hooks';
import type { Session } from '../state/session';
import { Course } from './course';
import { Icon } from './icon';
import { Problem } from './problem';

/** Gives the browser a file to save. */
function download(bytes: Uint8Array, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function WeightsCourse({ session }: { session: Session }) {
  const input = useRef<HTMLInputElement>(null);
  const disabled = !session.network.value;
  const save = async () => {
    const bytes = await session.saveWeights();
    if (bytes) download(bytes, 'weights.safetensors');
  };
  return (
    <Course title="Weights" choice="safetensors">
      <div class="row">
        <button class="button grow" disabled={disabled} onClick={() => void save()}><Icon name="save" /> Save</button>
        <button class="button grow" disabled={disabled} onClick={() => input.current?.click()}><Icon name="open" /> Load</button>
        <input ref={input} class="hidden" type="file" aria-label="File of weights" tabIndex={-1} onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          currentTarget.value = '';
          if (file) void session.loadWeights(file);
        }} />
      </div>
      <p class="note">The files of the command <code>kaiseki</code>, both ways.</p>
      <Problem session={session} place="weights" />
    </Course>
  );
}
