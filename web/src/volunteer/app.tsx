// SPDX-License-Identifier: MIT
import { Masthead } from '../parts/masthead';
import { Offer } from './offer';
import { Limits } from './limits';
import { Switch } from './switch';
import type { Volunteer } from './volunteer';

export function App({ volunteer }: { volunteer: Volunteer }) {
  return (
    <>
      <Masthead title="Lend this machine's idle time" />
      <main class="volunteer">
        <Switch volunteer={volunteer} />
        <Offer volunteer={volunteer} />
        <Limits volunteer={volunteer} />
      </main>
      <footer>
        The code of tasks runs in workers without network, storage or your files. Closing this page ends everything.
      </footer>
    </>
  );
}
