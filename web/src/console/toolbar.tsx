// SPDX-License-Identifier: MIT
// The controls above a list: a search, choices, and the number of results; and below it: its pages.
import type { Signal } from '@preact/signals';
import { count } from '../logic/format';
import type { View } from './view';

interface Choice<Key extends string> {
  label: string;
  names: Record<Key, string>;
  value: Key;
  set: (key: Key) => void;
}

export function Select<Key extends string>({ label, names, value, set }: Choice<Key>) {
  return (
    <label class="tool">
      <span>{label}</span>
      <select aria-label={label} value={value} onChange={({ currentTarget }) => set(currentTarget.value as Key)}>
        {Object.entries<string>(names).map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Search({ view, label }: { view: View; label: string }) {
  return (
    <label class="tool tool-search">
      <span>{label}</span>
      <input
        type="search"
        value={view.search.value}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => view.find(currentTarget.value)}
      />
    </label>
  );
}

interface Tools<State extends string, Order extends string> {
  view: View;
  /** The label of the search. */
  search: string;
  states: Record<State, string>;
  state: Signal<State>;
  orders: Record<Order, string>;
  order: Signal<Order>;
}

export function Toolbar<State extends string, Order extends string>(tools: Tools<State, Order>) {
  const { view, search, states, state, orders, order } = tools;
  return (
    <div class="toolbar">
      <Search view={view} label={search} />
      <Select label="State" names={states} value={state.value} set={(key) => (state.value = key)} />
      <Select label="Sort by" names={orders} value={order.value} set={(key) => (order.value = key)} />
    </div>
  );
}

interface Pages {
  /** The name of the listed items, such as "projects". */
  what: string;
  page: number;
  pages: number;
  set: (page: number) => void;
}

export function Pager({ what, page, pages, set }: Pages) {
  if (pages < 2) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <button class="button small" disabled={page === 0} onClick={() => set(page - 1)}>
        Previous
      </button>
      <span class="note">
        Page {count(page + 1)} of {count(pages)}
      </span>
      <button class="button small" disabled={page === pages - 1} onClick={() => set(page + 1)}>
        Next
      </button>
    </nav>
  );
}
