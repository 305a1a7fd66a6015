// SPDX-License-Identifier: MIT
// One of the settings: open on a wide screen, a line with its choice on a narrow one.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './icon';

interface Props {
  title: string;
  choice: string;
  children: ComponentChildren;
}

export function Course({ title, choice, children }: Props) {
  const [open, setOpen] = useState(() => matchMedia('(min-width: 64rem)').matches);
  return (
    <details class="plate course" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h2>{title}</h2>
        <span class="choice">{choice}</span>
        <Icon name="chevron" />
      </summary>
      <div class="course-body">{children}</div>
    </details>
  );
}
