// SPDX-License-Identifier: MIT
// A table with explicit roles, because the style sheet turns its rows into cards on a phone (console.css).
import type { ComponentChildren } from 'preact';

interface Props {
  /** The class and the title of each column. */
  columns: readonly (readonly [string, string])[];
  /** Whether there is a last column of buttons. */
  actions: boolean;
  className?: string;
  children: ComponentChildren;
}

export function Table({ columns, actions, className = '', children }: Props) {
  return (
    <table role="table" class={`table ${className}`}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(([name, title]) => (
            <th key={title} role="columnheader" scope="col" class={name}>
              {title}
            </th>
          ))}
          {actions && (
            <th role="columnheader" scope="col" class="last">
              <span class="hidden">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
  );
}
