// SPDX-License-Identifier: MIT
// The head of every page: what it is, what it has to say in short where there is room, what can be done, and its colours.
import type { ComponentChildren } from 'preact';
import { nextTheme, theme } from '../state/theme';
import { Icon } from './icon';

const THEME_ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const;

export function Masthead({ title, action, children }: { title: string; action?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <header>
      <img src="/icon.svg" alt="" width="38" height="38" />
      <div class="title">
        <h1>Kaiseki</h1>
        <p>{title}</p>
      </div>
      <p class="facts">{children}</p>
      {action}
      <button class="button quiet" onClick={nextTheme} aria-label={`Colours: ${theme.value}. Change`} title={`Colours: ${theme.value}`}>
        <Icon name={THEME_ICONS[theme.value]} />
      </button>
    </header>
  );
}
