// SPDX-License-Identifier: MIT
// Searches, filters, sorts and cuts the console's lists.
import { trainingFunction } from '../../pool/training.js';
import type { PoolNode, Project, Task } from './api';

export type TaskState = Task['state'] | 'finished';

/** The state to show. A training has no open ticket between two steps, so it is not finished then. */
export function stateOf({ state, function: code, free, leased, done, dead }: Task): TaskState {
  const ended = free + leased === 0 && done + dead > 0 && code !== trainingFunction;
  return state !== 'cancelled' && ended ? 'finished' : state;
}

/** A project with its tasks and the totals of their tickets. */
export interface Listed extends Project {
  tasks: Task[];
  /** Empty: the project has no task. */
  state: TaskState | '';
  open: number;
  done: number;
  dead: number;
  rate: number;
}

const STATES = ['running', 'paused', 'finished', 'cancelled'] as const;

export function listProjects(
  projects: readonly Project[],
  tasks: readonly Task[],
  rates: Record<number, number>,
): Listed[] {
  const listed = new Map(
    projects.map((project) => [
      project.project,
      { ...project, tasks: [] as Task[], state: '' as Listed['state'], open: 0, done: 0, dead: 0, rate: 0 },
    ]),
  );
  for (const task of tasks) {
    const project = listed.get(task.project);
    if (!project) continue;
    project.tasks.push(task);
    if (task.state !== 'cancelled') project.open += task.free + task.leased;
    project.done += task.done;
    project.dead += task.dead;
    project.rate += rates[task.task] ?? 0;
  }
  for (const project of listed.values()) {
    const states = new Set(project.tasks.map(stateOf));
    project.state = STATES.find((state) => states.has(state)) ?? '';
  }
  return [...listed.values()];
}

export const PROJECT_ORDERS = {
  newest: 'Newest',
  name: 'Name',
  rate: 'Tickets/s',
  open: 'Open',
  dead: 'Dead',
} as const;
export type ProjectOrder = keyof typeof PROJECT_ORDERS;
export const PROJECT_STATES = {
  '': 'All',
  running: 'Running',
  paused: 'Paused',
  finished: 'Finished',
  cancelled: 'Cancelled',
} as const;
export type ProjectState = keyof typeof PROJECT_STATES;

const has = (text: string, part: string) => text.toLowerCase().includes(part);
const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name, 'en', { numeric: true });

/** Searches names of projects and tasks, and "project 3" or "task 12". */
export function selectProjects(all: readonly Listed[], search: string, state: ProjectState, order: ProjectOrder) {
  const part = search.trim().toLowerCase();
  const found = all.filter(
    (one) =>
      (!state || one.state === state) &&
      (!part ||
        has(one.name, part) ||
        part === `project ${one.project}` ||
        one.tasks.some(({ name, task }) => has(name, part) || part === `task ${task}`)),
  );
  found.sort((a, b) =>
    order === 'name' ? byName(a, b) : (order === 'newest' ? 0 : b[order] - a[order]) || b.project - a.project,
  );
  return found;
}

export const NODE_ORDERS = {
  state: 'State',
  name: 'Name',
  accepted: 'Accepted',
  failed: 'Failed',
  gflops: 'Speed',
  last_seen: 'Last seen',
} as const;
export type NodeOrder = keyof typeof NODE_ORDERS;
export const NODE_STATES = { '': 'All', connected: 'Connected', away: 'Away', expelled: 'Expelled' } as const;
export type NodeState = keyof typeof NODE_STATES;

export const nodeState = ({ expelled, connected }: PoolNode): Exclude<NodeState, ''> =>
  expelled ? 'expelled' : connected ? 'connected' : 'away';
/** The start of a node's id, which the rows of nodes and the errors show. */
export const shortId = (node: string): string => node.slice(0, 8);

const RANKS = { connected: 0, expelled: 1, away: 2 };

/** Searches names, devices and the start of ids. */
export function selectNodes(all: readonly PoolNode[], search: string, state: NodeState, order: NodeOrder): PoolNode[] {
  const part = search.trim().toLowerCase();
  const found = all.filter(
    (one) =>
      (!state || nodeState(one) === state) &&
      (!part || one.node.startsWith(part) || has(one.name, part) || has(one.device, part)),
  );
  // The sort is stable: nodes that are equal keep the coordinator's order.
  if (order === 'state') return found.sort((a, b) => RANKS[nodeState(a)] - RANKS[nodeState(b)]);
  return found.sort(order === 'name' ? byName : (a, b) => b[order] - a[order]);
}

/** The part of a list on a page. The page is limited to those that exist. */
export function pageOf<One>(all: readonly One[], page: number, size: number) {
  const pages = Math.max(1, Math.ceil(all.length / size));
  const at = Math.min(Math.max(0, page), pages - 1);
  return { items: all.slice(at * size, (at + 1) * size), page: at, pages };
}

const SPARE_ROWS = 3; // drawn above and below the visible rows

/** The rows to draw, of `count` rows of this height. */
export function visibleRows(count: number, rowHeight: number, top: number, height: number): [number, number] {
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE_ROWS);
  const rows = Math.ceil(height / rowHeight) + 2 * SPARE_ROWS;
  return [Math.max(0, Math.min(first, count - rows)), Math.min(count, first + rows)];
}
