// SPDX-License-Identifier: MIT
// The header of every page. It has the title, links to the other pages, status, an action, and the choice of light or
// dark colors.
import type { ComponentChildren } from 'preact';
import { nextTheme, theme } from '../state/theme';
import { Icon } from './icon';

const PAGES = {
  '/': 'Train',
  '/playground/': 'Playground',
  '/volunteer/': 'Compute',
  '/console/': 'Console',
  '/mandelbrot/': 'Mandelbrot',
} as const;

/** The links between the pages. */
export function Pages({ path }: { path: string }) {
  return (
    <nav class="pages" aria-label="Pages">
      {Object.entries(PAGES).map(([address, name]) => (
        <a key={address} href={address} aria-current={address === path ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

const THEME_ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const;

export function Masthead({
  title,
  action,
  children,
}: {
  title: string;
  action?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <header>
      <img src="/icon.svg" alt="" width="38" height="38" />
      <div class="title">
        <h1>Kaiseki</h1>
        <p>{title}</p>
      </div>
      <Pages path={location.pathname} />
      <p class="facts">{children}</p>
      {action}
      <button
        class="button quiet"
        onClick={nextTheme}
        aria-label={`Colors: ${theme.value}. Change`}
        title={`Colors: ${theme.value}`}
      >
        <Icon name={THEME_ICONS[theme.value]} />
      </button>
    </header>
  );
}
