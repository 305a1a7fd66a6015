// SPDX-License-Identifier: MIT
// The login form. The author's token may change things, the viewer's may only read.
import { useState } from 'preact/hooks';
import { Alert } from '../parts/alert';
import type { Pool } from './pool';

export function Login({ pool }: { pool: Pick<Pool, 'busy' | 'refusal' | 'login'> }) {
  const [token, setToken] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    if (token.trim()) void pool.login(token.trim());
  };
  return (
    <form class="card login" onSubmit={submit}>
      <h2>Log in</h2>
      <label class="field">
        <span>Token</span>
        <input
          type="password"
          value={token}
          autocomplete="current-password"
          spellcheck={false}
          aria-describedby="where"
          required
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      <p id="where" class="note">
        The tokens are in the files <code>author.token</code> and <code>viewer.token</code> of the coordinator's state
        folder. The page keeps the token until this tab is closed.
      </p>
      <button class="button main" disabled={pool.busy.value}>
        Log in
      </button>
      <Alert texts={[pool.refusal.value]} />
    </form>
  );
}
