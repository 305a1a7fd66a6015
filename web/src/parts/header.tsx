// SPDX-License-Identifier: MIT
import { offlineReady } from '../state/offline';
import type { Session } from '../state/session';
import { plural } from '../logic/format';
import { Icon } from './icon';
import { Masthead } from './masthead';

export function Header({ session }: { session: Session }) {
  const threads = session.threads.value;
  return (
    <Masthead title="Neural networks, trained in this page">
      {threads > 0 && <span class="fact">WebAssembly SIMD, {plural(threads, 'thread')}</span>}
      {offlineReady.value && (
        <span class="fact fact-offline">
          <Icon name="check" /> Works offline
        </span>
      )}
    </Masthead>
  );
}
