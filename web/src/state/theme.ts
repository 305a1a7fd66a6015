// SPDX-License-Identifier: MIT
// Light, dark, or what the system says; kept between visits.
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'kaiseki.theme';

const system = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(system.matches);
system.addEventListener('change', (event) => (systemDark.value = event.matches));

function kept(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system';  // storage is refused
  }
}

export const theme = signal<Theme>(kept());
/** What is shown; read it where something is drawn with colours of the style sheet. */
export const dark = signal(false);

effect(() => {
  dark.value = theme.value === 'dark' || (theme.value === 'system' && systemDark.value);
  document.documentElement.dataset.theme = dark.value ? 'dark' : 'light';
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Not kept, then.
  }
});

export const nextTheme = (): Theme => (theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]);
