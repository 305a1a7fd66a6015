// SPDX-License-Identifier: MIT
import { useEffect, useState } from 'preact/hooks';
import { Masthead } from '../parts/masthead';
import { Digits } from './digits';
import type { DigitsState } from './digits-state';
import { Plane } from './plane';
import type { PlaneState } from './plane-state';
import { ModelPanel, PointsPanel } from './panels';

const TABS = { '#plane': 'Points in the plane', '#digits': 'Digits' } as const;
type Tab = keyof typeof TABS;

const current = (): Tab => (location.hash === '#digits' ? '#digits' : '#plane');

function useTab(): Tab {
  const [tab, setTab] = useState(current);
  useEffect(() => {
    const change = () => setTab(current());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return tab;
}

export function App({ plane, digits }: { plane: PlaneState; digits: DigitsState }) {
  const tab = useTab();
  return (
    <>
      <Masthead title="Classic learning, live in this page" />
      <main class="playground">
        <nav class="tabs" aria-label="Parts of the playground">
          {(Object.keys(TABS) as Tab[]).map((address) => (
            <a key={address} href={address} aria-current={address === tab ? 'page' : undefined}>
              {TABS[address]}
            </a>
          ))}
        </nav>
        {tab === '#plane' ? (
          <>
            <Plane state={plane} />
            <div class="panels">
              <ModelPanel state={plane} />
              <PointsPanel state={plane} />
            </div>
          </>
        ) : (
          <Digits state={digits} />
        )}
      </main>
      <footer>Everything runs in this page. Points and pictures stay on this device.</footer>
    </>
  );
}
