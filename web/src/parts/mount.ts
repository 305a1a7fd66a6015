// SPDX-License-Identifier: MIT
import { render, type VNode } from 'preact';

/** Shows the page instead of the text that says that it is being loaded. */
export function mount(app: VNode): void {
  const place = document.getElementById('page')!;
  place.replaceChildren();
  render(app, place);
}
