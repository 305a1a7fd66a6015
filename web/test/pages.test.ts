// SPDX-License-Identifier: MIT
import { expect, test, vi } from 'vitest';

vi.mock('../src/state/theme', () => ({ theme: { value: 'light' }, nextTheme: () => {} }));

test('every page links to every other page, and marks itself', async () => {
  const { Pages } = await import('../src/parts/masthead');
  const links = (Pages({ path: '/console/' }) as any).props.children.map(({ props }: any) => props);
  expect(links.map(({ href }: any) => href)).toEqual(['/', '/playground/', '/volunteer/', '/console/', '/mandelbrot/']);
  expect(links.filter((link: any) => link['aria-current']).map(({ href }: any) => href)).toEqual(['/console/']);
});
