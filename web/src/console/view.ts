// SPDX-License-Identifier: MIT
// The view of the console: a tab, and the search, order and page of its list. The address has the tab and the search,
// such as #nodes/laptop, so that a link opens the same view.
import { batch, computed, signal } from '@preact/signals';
import type { PoolNode, Project, Task } from './api';
import { listProjects, pageOf, selectNodes, selectProjects, visibleRows } from './lists';
import { Slots } from './slots';
import type { NodeOrder, NodeState, ProjectOrder, ProjectState } from './lists';

export const TABS = { overview: 'Overview', projects: 'Projects', nodes: 'Nodes', errors: 'Errors' } as const;
export type Tab = keyof typeof TABS;

/** The lists that the view shows parts of. */
interface Lists {
  projects: { value: Project[] };
  tasks: { value: Task[] };
  nodes: { value: PoolNode[] };
  rates: { value: Record<number, number> };
}

export const PAGE_SIZE = 25;
/** Without a choice of the user, projects are open if there are at most this many. */
const FEW_PROJECTS = 3;
/** The height of a node's row in pixels: on a wide screen, and on a phone (console.css). */
export const ROW_HEIGHTS = [68, 200] as const;

/** The names of the time ranges, by their seconds. */
export const TIME_RANGES = {
  '60': '1 minute',
  '600': '10 minutes',
  '3600': '1 hour',
  '86400': '1 day',
  '0': 'All',
} as const;
export type TimeRange = keyof typeof TIME_RANGES;

/** The first and the last second of a plot. `since` is the time of the first value. */
export function timeRange(range: TimeRange, since: number, now: number): [number, number] {
  return [range === '0' ? Math.min(since, now - 60) : now - Number(range), now];
}

/** A time of day, or a date if the plot is longer than two days. */
export function clock(time: number, range: number): string {
  const at = new Date(1000 * time);
  if (range > 2 * 86400) return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return at.toLocaleTimeString('en-GB', range > 7200 ? { hour: '2-digit', minute: '2-digit' } : {});
}

export const linkTo = (tab: Tab, search = ''): string => `#${tab}${search && `/${encodeURIComponent(search)}`}`;

/** Reads a tab and a search from the part of an address after "#". */
export function readHash(hash: string): { tab: Tab; search: string } {
  const [, name, search = ''] = /^#?([a-z]*)(?:\/(.*))?$/.exec(hash) ?? ['', '', ''];
  const tab = name in TABS ? (name as Tab) : 'overview';
  try {
    return { tab, search: decodeURIComponent(search) };
  } catch {
    return { tab, search: '' };
  }
}

export class View {
  readonly tab = signal<Tab>('overview');
  readonly search = signal('');
  readonly page = signal(0);
  readonly projectOrder = signal<ProjectOrder>('newest');
  readonly projectState = signal<ProjectState>('');
  readonly nodeOrder = signal<NodeOrder>('state');
  readonly nodeState = signal<NodeState>('');
  /** The projects that the user opened or closed. */
  readonly opened = signal<Record<number, boolean>>({});
  /** The page of the tasks of a project. */
  readonly taskPages = signal<Record<number, number>>({});
  readonly timeRange = signal<TimeRange>('600');
  readonly narrow = signal(false);
  /** The first and the last drawn row of the nodes, from the scroll position. */
  readonly #scroll = signal({ top: 0, height: 900 });

  constructor(private readonly lists: Lists) {
    this.#read();
    globalThis.addEventListener?.('hashchange', () => this.#read());
    const narrow = globalThis.matchMedia?.('(max-width: 52rem)');
    if (!narrow) return;
    this.narrow.value = narrow.matches;
    narrow.addEventListener('change', () => (this.narrow.value = narrow.matches));
  }

  readonly allProjects = computed(() =>
    listProjects(this.lists.projects.value, this.lists.tasks.value, this.lists.rates.value),
  );
  readonly projects = computed(() =>
    selectProjects(this.allProjects.value, this.search.value, this.projectState.value, this.projectOrder.value),
  );
  readonly projectPage = computed(() => pageOf(this.projects.value, this.page.value, PAGE_SIZE));
  /** The open projects of this page. Their tasks are shown. */
  readonly shownProjects = computed(() =>
    this.tab.value === 'projects' ? this.projectPage.value.items.filter(({ project }) => this.isOpen(project)) : [],
  );
  /** Changes only with these projects. */
  readonly shownIds = computed(() => this.shownProjects.value.map(({ project }) => project).join());
  readonly nodes = computed(() =>
    selectNodes(this.lists.nodes.value, this.search.value, this.nodeState.value, this.nodeOrder.value),
  );
  readonly rowHeight = computed(() => ROW_HEIGHTS[Number(this.narrow.value)]);
  readonly #rows = computed(() => {
    const { top, height } = this.#scroll.value;
    return visibleRows(this.nodes.value.length, this.rowHeight.value, top, height).join();
  });
  readonly #slots = new Slots();
  /** The nodes to draw with the keys of their rows, and the index of the first. */
  readonly drawnNodes = computed(() => {
    const [first, end] = this.#rows.value.split(',').map(Number);
    const nodes = this.nodes.value.slice(first, end);
    return { first, nodes, keys: this.#slots.assign(nodes.map(({ node }) => node)) };
  });

  isOpen(project: number): boolean {
    return this.opened.value[project] ?? this.lists.projects.value.length <= FEW_PROJECTS;
  }

  toggle(project: number): void {
    this.opened.value = { ...this.opened.value, [project]: !this.isOpen(project) };
  }

  /** Searches in this tab. The address follows, without a new entry in the browser's history. */
  find(search: string): void {
    batch(() => {
      this.search.value = search;
      this.page.value = 0;
    });
    history.replaceState(null, '', linkTo(this.tab.value, search));
  }

  /** Called when the list of nodes appears. */
  readonly scrollPlace = (place: HTMLElement | null): void => {
    if (place) this.scrolled(place.scrollTop, place.clientHeight);
  };

  scrolled(top: number, height: number): void {
    this.#scroll.value = { top, height };
  }

  #read(): void {
    const { tab, search } = readHash(globalThis.location?.hash ?? '');
    batch(() => {
      this.tab.value = tab;
      this.search.value = search;
      this.page.value = 0;
    });
  }
}
