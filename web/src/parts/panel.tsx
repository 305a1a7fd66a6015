// SPDX-License-Identifier: MIT
// A panel of settings: open on a wide screen, one line with the current choice on a narrow one.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icon';

interface Props {
  title: string;
  choice: string;
  children: ComponentChildren;
}

export function Panel({ title, choice, children }: Props) {
  const [open, setOpen] = useState(() => matchMedia('(min-width: 64rem)').matches);
  return (
    <details class="card panel" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h2>{title}</h2>
        <span class="choice">{choice}</span>
        <Icon name="chevron" />
      </summary>
      <div class="panel-body">{children}</div>
    </details>
  );
}
