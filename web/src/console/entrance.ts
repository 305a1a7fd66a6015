// SPDX-License-Identifier: MIT
// Who is logged in: a token that is kept until the tab is closed, for every page that wants one.
import { Api, ApiError, type Role } from './api';

const KEY = 'kaiseki.console';

/** Of who logged in, until the tab is closed; empty: nobody. */
export function keptToken(): string {
  try {
    return sessionStorage.getItem(KEY) ?? '';
  } catch {
    return '';  // storage is refused
  }
}

export function keepToken(token: string): void {
  try {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
  } catch {
    // Not kept, then.
  }
}

/** Logs in, and keeps the token. */
export async function enter(token: string): Promise<{ api: Api; role: Role }> {
  const api = new Api(token);
  try {
    const role = await api.role();
    keepToken(token);
    return { api, role };
  } catch (error) {
    if ((error as ApiError).status !== 401) throw error;
    keepToken('');
    throw new ApiError(401, 'This is neither the author\'s token of this coordinator nor the viewer\'s');
  }
}
