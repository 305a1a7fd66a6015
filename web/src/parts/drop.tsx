// SPDX-License-Identifier: MIT
// Takes files that are dropped anywhere on the page.
import { useEffect, useState } from 'preact/hooks';
import { openFiles } from '../state/open-files';
import type { Session } from '../state/session';

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

export function Drop({ session }: { session: Session }) {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const events = new AbortController();
    const on = (name: 'dragover' | 'dragleave' | 'drop', action: (event: DragEvent) => void) =>
      addEventListener(name, action, { signal: events.signal });
    on('dragover', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    });
    on('dragleave', (event) => {
      if (!event.relatedTarget) setOver(false); // null: the pointer is outside the page
    });
    on('drop', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length) void openFiles(session, files);
    });
    return () => events.abort();
  }, []);
  return over ? <p class="drop">Drop a network, weights, or all files of a data set</p> : null;
}
