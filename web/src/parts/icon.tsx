// SPDX-License-Identifier: MIT
// Line icons on a grid of 20, in the text's color.

const PATHS = {
  play: 'M6.5 4.2v11.6L16 10z',
  pause: 'M6.5 4.5v11M13.5 4.5v11',
  stop: 'M5.5 5.5h9v9h-9z',
  reset: 'M4.5 10a5.5 5.5 0 1 0 1.8-4.1M4.2 3.6v3.2h3.2',
  sun: 'M10 6.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8M10 1.8v1.6M10 16.6v1.6M1.8 10h1.6M16.6 10h1.6M4.2 4.2l1.1 1.1M14.7 14.7l1.1 1.1M15.8 4.2l-1.1 1.1M5.3 14.7l-1.1 1.1',
  moon: 'M16.5 11.8A7 7 0 1 1 8.2 3.5a5.6 5.6 0 0 0 8.3 8.3z',
  system: 'M2.8 4h14.4v9.5H2.8zM7 16.8h6M10 13.5v3.3',
  check: 'M4.5 10.5l3.6 3.6 7.4-8',
  warn: 'M10 3l7.5 13.5h-15zM10 8v4M10 14.2v.2',
  save: 'M10 3v9M6.2 8.6L10 12.4l3.8-3.8M3.5 15.5v1.5h13v-1.5',
  open: 'M10 12.5v-9M6.2 7.2L10 3.4l3.8 3.8M3.5 15.5v1.5h13v-1.5',
  dice: 'M3.5 3.5h13v13h-13zM7 7v.1M13 7v.1M10 10v.1M7 13v.1M13 13v.1',
  clear: 'M4.5 5.5h11M8 5.5V3.8h4v1.7M6 5.5l.7 11h6.6l.7-11',
  chevron: 'M6 8l4 4 4-4',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
