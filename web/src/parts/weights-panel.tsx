// SPDX-License-Identifier: MIT
import type { Session } from '../state/session';
import { FileButton } from './file-button';
import { Panel } from './panel';
import { Icon } from './icon';
import { Problem } from './problem';

/** Downloads bytes as a file. */
function download(bytes: Uint8Array, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function WeightsPanel({ session }: { session: Session }) {
  const disabled = !session.network.value;
  const save = async () => {
    const bytes = await session.saveWeights();
    if (bytes) download(bytes, 'weights.safetensors');
  };
  return (
    <Panel title="Weights" choice="safetensors">
      <div class="row">
        <button class="button grow" disabled={disabled} onClick={() => void save()}>
          <Icon name="save" /> Save
        </button>
        <FileButton label="Weights file" disabled={disabled} onFiles={([file]) => void session.loadWeights(file)}>
          <Icon name="open" /> Load
        </FileButton>
      </div>
      <p class="note">
        Saves safetensors. Reads safetensors, tar, ONNX, and a network as JSON with weights. The command{' '}
        <code>kaiseki</code> does so too.
      </p>
      <Problem session={session} place="weights" />
    </Panel>
  );
}
