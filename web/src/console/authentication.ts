// SPDX-License-Identifier: MIT
// The user's token, kept until the tab is closed and shared by all pages that need one.
import { Api, ApiError, type Role } from './api';

const KEY = 'kaiseki.console';

/** The stored token. Empty: the user is not logged in. */
export function storedToken(): string {
  try {
    return sessionStorage.getItem(KEY) ?? '';
  } catch {
    return ''; // storage is not allowed
  }
}

export function storeToken(token: string): void {
  try {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
  } catch {
    // The token is not stored.
  }
}

/** Logs in and stores the token. */
export async function logIn(token: string): Promise<{ api: Api; role: Role }> {
  const api = new Api(token);
  try {
    const role = await api.role();
    storeToken(token);
    return { api, role };
  } catch (error) {
    if ((error as ApiError).status !== 401) throw error;
    storeToken('');
    throw new ApiError(401, 'The coordinator refuses this token: use its author.token or viewer.token');
  }
}
