// SPDX-License-Identifier: MIT
// Who has the author's token may change things, who has the viewer's may look.
import { useState } from 'preact/hooks';
import { Icon } from '../parts/icon';
import type { Pool } from './pool';

export function Login({ pool }: { pool: Pick<Pool, 'busy' | 'refusal' | 'login'> }) {
  const [token, setToken] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) void pool.login(token.trim());
  };
  return (
    <form class="plate login" onSubmit={submit}>
      <h2>Log in</h2>
      <label class="field">
        <span>Token</span>
        <input type="password" value={token} autocomplete="current-password" spellcheck={false} aria-describedby="where" required
               onInput={(event) => setToken(event.currentTarget.value)} />
      </label>
      <p id="where" class="note">
        The coordinator made <code>author.token</code> and <code>viewer.token</code> in its state folder when it first started.
        The token is kept until this tab is closed.
      </p>
      <button class="button main" disabled={pool.busy.value}>Log in</button>
      <div role="alert" class="problem-place">
        {pool.refusal.value && <div class="problem"><Icon name="warn" /><p class="message">{pool.refusal.value}</p></div>}
      </div>
    </form>
  );
}
