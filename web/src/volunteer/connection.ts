// SPDX-License-Identifier: MIT
// Whether the connection costs by its bytes, or data saving is on, if the browser reports it.
import { signal } from '@preact/signals';

interface Connection extends EventTarget {
  saveData?: boolean;
  type?: string;
}

/** Null: the browser does not report it. */
export const metered = signal<boolean | null>(null);

export function watchConnection(): void {
  const { connection } = navigator as { connection?: Connection };
  if (!connection) return;
  const tell = () => (metered.value = connection.saveData === true || /cellular|wimax/.test(connection.type ?? ''));
  connection.addEventListener('change', tell);
  tell();
}
