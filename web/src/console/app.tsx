// SPDX-License-Identifier: MIT
import { Alert } from '../parts/alert';
import { Masthead } from '../parts/masthead';
import { Charts } from './charts';
import { Errors } from './errors';
import { Login } from './login';
import { Nodes } from './nodes';
import type { Pool } from './pool';
import { Projects } from './projects';
import { Summary } from './summary';
import { TABS, linkTo, type Tab, type View } from './view';

function Tabs({ view }: { view: View }) {
  return (
    <nav class="tabs" aria-label="Parts of the console">
      {(Object.keys(TABS) as Tab[]).map((tab) => (
        <a key={tab} href={linkTo(tab)} aria-current={tab === view.tab.value ? 'page' : undefined}>
          {TABS[tab]}
        </a>
      ))}
    </nav>
  );
}

export function App({ pool }: { pool: Pool }) {
  const role = pool.role.value,
    tab = pool.view.tab.value;
  return (
    <>
      <Masthead
        title="Pool console"
        action={
          role && (
            <button class="button quiet" onClick={() => pool.logout()}>
              Log out
            </button>
          )
        }
      >
        {role && (
          <span class="fact">{role === 'author' ? 'Logged in as author' : 'Logged in as viewer: read only'}</span>
        )}
      </Masthead>
      <main class="console">
        {role === null ? (
          <Login pool={pool} />
        ) : (
          <>
            <Alert texts={[pool.failure.value, pool.problem.value]} />
            <Tabs view={pool.view} />
            {tab === 'overview' && (
              <>
                <Summary pool={pool} />
                <Charts pool={pool} />
              </>
            )}
            {tab === 'projects' && <Projects pool={pool} />}
            {tab === 'nodes' && <Nodes pool={pool} />}
            {tab === 'errors' && <Errors pool={pool} />}
          </>
        )}
      </main>
      <footer>{location.host}</footer>
    </>
  );
}
