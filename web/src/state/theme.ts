// SPDX-License-Identifier: MIT
// The theme: light, dark or the system's. It is kept between visits.
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'kaiseki.theme';

const system = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(system.matches);
system.addEventListener('change', (event) => (systemDark.value = event.matches));

function storedTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system'; // storage is not allowed
  }
}

export const theme = signal<Theme>(storedTheme());
/** Whether dark colors are shown. Code that draws with the style sheet's colors reads it. */
export const dark = signal(false);

effect(() => {
  dark.value = theme.value === 'dark' || (theme.value === 'system' && systemDark.value);
  document.documentElement.dataset.theme = dark.value ? 'dark' : 'light';
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // The choice is not stored.
  }
});

export const nextTheme = (): Theme => (theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]);
