// SPDX-License-Identifier: MIT
// A table that stays one where the style sheet makes cards of its rows (console.css): its parts say what they are.
import type { ComponentChildren } from 'preact';

interface Props {
  /** The class of each, and what it is. */
  columns: readonly (readonly [string, string])[];
  /** Whether there is a last one, of buttons. */
  actions: boolean;
  className?: string;
  children: ComponentChildren;
}

export function Table({ columns, actions, className = '', children }: Props) {
  return (
    <table role="table" class={`table ${className}`}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(([name, title]) => <th key={title} role="columnheader" scope="col" class={name}>{title}</th>)}
          {actions && <th role="columnheader" scope="col" class="last"><span class="hidden">Actions</span></th>}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
  );
}
