// SPDX-License-Identifier: MIT
import { useEffect, useState } from 'preact/hooks';
import { MNIST_FILES } from '../logic/files';
import { count } from '../logic/format';
import type { Session } from '../state/session';
import { Panel } from './panel';
import { Problem } from './problem';

type From = 'digits' | 'files' | 'address';

/** `kaiseki serve` has this folder if its machine has MNIST. */
const SERVED = '/data/mnist/';

async function isServed(): Promise<boolean> {
  try {
    return (await fetch(`${SERVED}${MNIST_FILES[0]}.gz`, { method: 'HEAD' })).ok;
  } catch {
    return false;
  }
}

export function DataPanel({ session }: { session: Session }) {
  const used = session.origin.value;
  const [from, setFrom] = useState<From>('digits');
  useEffect(() => setFrom(used.kind), [used]);
  const [address, setAddress] = useState('');
  useEffect(() => {
    if (from === 'address' && !address) void isServed().then((served) => served && setAddress((now) => now || SERVED));
  }, [from]);
  const data = session.data.value;
  const choose = (next: From) => {
    setFrom(next);
    if (next === 'digits') void session.useData({ kind: 'digits' }).then(() => setFrom(session.origin.value.kind));
  };
  const option = (value: From, title: string, about: string) => (
    <label class="option">
      <input type="radio" name="data" checked={from === value} onChange={() => choose(value)} />
      <span>
        <b>{title}</b>
        <small>{about}</small>
      </span>
    </label>
  );
  return (
    <Panel title="Data" choice={data?.name ?? ''}>
      <fieldset class="choices">
        <legend class="hidden">Data</legend>
        {option('digits', 'Built-in digits', 'Drawn by the library. They look handwritten.')}
        {option('files', 'Files', 'MNIST (IDX, also .gz) or CIFAR-10 (binary).')}
        {option('address', 'Address', 'A folder with MNIST’s four .gz files.')}
      </fieldset>
      {from === 'files' && (
        <label class="field">
          <span>Select all files of the data set</span>
          <input
            type="file"
            multiple
            onChange={({ currentTarget }) => {
              const files = [...(currentTarget.files ?? [])];
              currentTarget.value = ''; // so that picking the same file again is a change
              if (files.length) void session.useData({ kind: 'files', files });
            }}
          />
        </label>
      )}
      {from === 'address' && (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void session.useData({ kind: 'address', address });
          }}
        >
          <label class="field grow">
            <span>Folder</span>
            <input
              type="text"
              inputMode="url"
              required
              value={address}
              onInput={(event) => setAddress(event.currentTarget.value)}
            />
          </label>
          <button class="button" type="submit">
            Load data
          </button>
        </form>
      )}
      {session.loading.value && (
        <button class="button" onClick={session.cancel}>
          Cancel
        </button>
      )}
      {data && (
        <p class="note">
          {count(data.train.images.shape[0])} training pictures, {count(data.test.images.shape[0])} test pictures
        </p>
      )}
      <Problem session={session} place="data" />
    </Panel>
  );
}
