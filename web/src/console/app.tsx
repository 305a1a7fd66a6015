// SPDX-License-Identifier: MIT
import { Icon } from '../parts/icon';
import { Masthead } from '../parts/masthead';
import { Charts } from './charts';
import { Errors } from './errors';
import { Login } from './login';
import { Nodes } from './nodes';
import type { Pool } from './pool';
import { Projects } from './projects';
import { Summary } from './summary';

export function App({ pool }: { pool: Pool }) {
  const role = pool.role.value;
  return (
    <>
      <Masthead title="Console of the pool" action={role && <button class="button quiet" onClick={() => pool.logout()}>Log out</button>}>
        {role && <span class="fact">{role === 'author' ? 'Logged in as author' : 'Logged in as viewer: read only'}</span>}
      </Masthead>
      <main class="console">
        {role === null ? <Login pool={pool} /> : (
          <>
            <div role="alert" class="problem-place">
              {[pool.failure.value, pool.problem.value].filter(Boolean).map((text) => (
                <div key={text} class="problem"><Icon name="warn" /><p class="message">{text}</p></div>
              ))}
            </div>
            <Summary pool={pool} />
            <Charts pool={pool} />
            <Projects pool={pool} />
            <Nodes pool={pool} />
            <Errors pool={pool} />
          </>
        )}
      </main>
      <footer>{location.host}</footer>
    </>
  );
}
