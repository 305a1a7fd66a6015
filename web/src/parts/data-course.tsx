// SPDX-License-Identifier: MIT
import { useState } from 'preact/hooks';
import { count } from '../logic/format';
import type { Session } from '../state/session';
import { Course } from './course';
import { Problem } from './problem';

type From = 'digits' | 'files' | 'address';

export function DataCourse({ session }: { session: Session }) {
  const [from, setFrom] = useState<From>('digits');
  const [address, setAddress] = useState('/data/mnist/');
  const data = session.data.value;
  const choose = (next: From) => {
    setFrom(next);
    if (next === 'digits') void session.useData({ kind: 'digits' });
  };
  const option = (value: From, title: string, about: string) => (
    <label class="option">
      <input type="radio" name="data" checked={from === value} onChange={() => choose(value)} />
      <span><b>{title}</b><small>{about}</small></span>
    </label>
  );
  return (
    <Course title="Data" choice={data?.name ?? ''}>
      <fieldset class="choices">
        <legend class="hidden">Data</legend>
        {option('digits', 'Built-in digits', 'Drawn by the library, like handwriting.')}
        {option('files', 'Files', 'MNIST (IDX, also .gz) or CIFAR-10 (binary).')}
        {option('address', 'Address', 'A folder with MNIST’s four .gz files.')}
      </fieldset>
      {from === 'files' && (
        <label class="field">
          <span>Pick all files of the data set at once</span>
          <input type="file" multiple onChange={({ currentTarget }) => {
            const files = [...currentTarget.files ?? []];
            currentTarget.value = '';  // so that picking the same again is a change
            if (files.length) void session.useData({ kind: 'files', files });
          }} />
        </label>
      )}
      {from === 'address' && (
        <form class="row" onSubmit={(event) => { event.preventDefault(); void session.useData({ kind: 'address', address }); }}>
          <label class="field grow">
            <span>Folder</span>
            <input type="text" inputMode="url" value={address} onInput={(event) => setAddress(event.currentTarget.value)} />
          </label>
          <button class="button" type="submit">Load data</button>
        </form>
      )}
      {session.loading.value && <button class="button" onClick={session.cancel}>Cancel</button>}
      {data && (
        <p class="note">
          {count(data.train.images.shape[0])} pictures to train on, {count(data.test.images.shape[0])} others to test with
        </p>
      )}
      <Problem session={session} place="data" />
    </Course>
  );
}
