// SPDX-License-Identifier: MIT
import { Masthead } from '../parts/masthead';
import { Offer } from './offer';
import { Limits } from './limits';
import { Switch } from './switch';
import type { Volunteer } from './volunteer';

export function App({ volunteer }: { volunteer: Volunteer }) {
  return (
    <>
      <Masthead title="Compute for this pool" />
      <main class="volunteer">
        <Switch volunteer={volunteer} />
        <Offer volunteer={volunteer} />
        <Limits volunteer={volunteer} />
      </main>
      <footer>
        Code of tasks runs in workers without access to network, storage or files. Closing this page stops everything.
      </footer>
    </>
  );
}
