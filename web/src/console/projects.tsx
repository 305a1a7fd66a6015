// SPDX-License-Identifier: MIT
// Projects, one line each. An open project shows its tasks and the author's actions.
import { useState } from 'preact/hooks';
import { trainingFunction } from '../../pool/training.js';
import { count, plural, rate } from '../logic/format';
import { Icon } from '../parts/icon';
import { Progress } from '../parts/progress';
import type { Task } from './api';
import { TrainingCharts } from './charts';
import { ConfirmButton } from './confirm-button';
import { PROJECT_ORDERS, PROJECT_STATES, pageOf, stateOf, type Listed } from './lists';
import type { Pool } from './pool';
import { Table } from './table';
import { Pager, Toolbar } from './toolbar';
import { trainingText } from './training-text';
import { PAGE_SIZE } from './view';

function Priority({ pool, task: { task, name, priority } }: { pool: Pool; task: Task }) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <label class="priority">
      <span class="hidden">Priority of {name}</span>
      <input
        type="number"
        min={-1000}
        max={1000}
        value={typed ?? priority}
        onBlur={() => setTyped(null)}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget }) => {
          if (currentTarget.reportValidity() && currentTarget.value !== '')
            void pool.change(task, { priority: currentTarget.valueAsNumber });
        }}
      />
    </label>
  );
}

function Actions({ pool, task }: { pool: Pool; task: Task }) {
  const { task: id, name, state } = task;
  if (state === 'cancelled') return null;
  const goes = state === 'running';
  return (
    <div class="actions">
      {stateOf(task) !== 'finished' && (
        <button
          class="button small"
          aria-label={`${goes ? 'Pause' : 'Resume'} ${name}`}
          onClick={() => void pool.change(id, { state: goes ? 'paused' : 'running' })}
        >
          {goes ? 'Pause' : 'Resume'}
        </button>
      )}
      <ConfirmButton text="Cancel" label={`Cancel ${name}`} act={() => void pool.change(id, { state: 'cancelled' })} />
    </div>
  );
}

function Row({ pool, task }: { pool: Pool; task: Task }) {
  const { name, free, leased, done, dead, waits } = task;
  const total = free + leased + done + dead;
  const author = pool.role.value === 'author';
  const state = stateOf(task);
  const trains = task.function === trainingFunction;
  const perSecond = pool.rates.value[task.task];
  const points = (trains && pool.curves.value[task.project]) || [];
  const { step = 0, steps = 0 } = points.at(-1) ?? {};
  return (
    <tr role="row">
      <th role="rowheader" scope="row" class="name">
        {name || `Task ${task.task}`}
        <small>
          Task {task.task}: {task.function || 'module'}
          {task.verification === 'quorum' && ', quorum'}
          {task.verification === 'none' && ', results are not checked'}
        </small>
      </th>
      <td role="cell" data-label="State" class="state">
        <span class={`badge badge-${state}`}>{state}</span>
      </td>
      <td role="cell" data-label="Progress" class="wide">
        {trains && <p>{trainingText(points, pool.paces.value[task.project] ?? 0)}</p>}
        <p class="task-line">
          <span>
            {count(done)} of {count(total)}
            {trains && ' tickets now'}
          </span>
          <span>
            {leased > 0 && `${count(leased)} leased`}
            {dead > 0 && <b class="bad"> {count(dead)} dead</b>}
          </span>
        </p>
        {steps > 0 ? (
          <Progress parts={[['done', step]]} total={steps} description={`${name}: step ${step} of ${steps}`} />
        ) : (
          <Progress
            parts={[
              ['done', done],
              ['leased', leased],
              ['dead', dead],
            ]}
            total={total}
            description={`${name}: ${done} done, ${leased} leased, ${free} free, ${dead} dead`}
          />
        )}
        {waits && <small>Waits: {waits}</small>}
      </td>
      <td role="cell" data-label="Tickets/s" class="number">
        {perSecond === undefined ? '–' : rate(perSecond)}
      </td>
      <td role="cell" data-label="Priority" class="number">
        {author && task.state !== 'cancelled' ? <Priority pool={pool} task={task} /> : task.priority}
      </td>
      {author && (
        <td role="cell" class="last">
          <Actions pool={pool} task={task} />
        </td>
      )}
    </tr>
  );
}

const COLUMNS = [
  ['name', 'Task'],
  ['state', 'State'],
  ['wide', 'Progress'],
  ['number', 'Tickets/s'],
  ['number', 'Priority'],
] as const;

function Tasks({ pool, project: { project, tasks } }: { pool: Pool; project: Listed }) {
  const { taskPages } = pool.view;
  const { items, page, pages } = pageOf(tasks, taskPages.value[project] ?? 0, PAGE_SIZE);
  if (tasks.length === 0) return <p class="empty">No task yet.</p>;
  return (
    <>
      <Table columns={COLUMNS} actions={pool.role.value === 'author'}>
        {items.map((task) => (
          <Row key={task.task} pool={pool} task={task} />
        ))}
      </Table>
      <Pager
        what="tasks"
        page={page}
        pages={pages}
        set={(next) => (taskPages.value = { ...taskPages.value, [project]: next })}
      />
    </>
  );
}

function Project({ pool, project: one }: { pool: Pool; project: Listed }) {
  const { project, name, weight, trains, tasks, state, open, done, dead } = one;
  const isOpen = pool.view.isOpen(project);
  const total = open + done + dead;
  const title = name || `Project ${project}`;
  return (
    <section class="card project" aria-label={`Project ${title}`}>
      <h3>
        <button class="project-head" aria-expanded={isOpen} onClick={() => pool.view.toggle(project)}>
          <Icon name="chevron" />
          <span class="project-name">{title}</span>
          {state && <span class={`badge badge-${state}`}>{state}</span>}
          <span class="note">
            {plural(tasks.length, 'task')}
            {!trains && total > 0 && `, ${count(done)} of ${count(total)}`}
            {one.rate > 0 && `, ${rate(one.rate)}/s`}
            {weight !== 1 && `, weight ${rate(weight)}`}
            {dead > 0 && <b class="bad">, {count(dead)} dead</b>}
          </span>
        </button>
      </h3>
      {isOpen && (
        <div class="project-body">
          {trains && <TrainingCharts pool={pool} project={project} />}
          <Tasks pool={pool} project={one} />
        </div>
      )}
    </section>
  );
}

export function Projects({ pool }: { pool: Pool }) {
  const { view } = pool;
  const { items, page, pages } = view.projectPage.value;
  const all = pool.projects.value.length,
    found = view.projects.value.length;
  return (
    <>
      <section class="card" aria-label="Projects">
        <div class="card-header">
          <h2>Projects</h2>
          <span class="note">{found === all ? count(all) : `${count(found)} of ${count(all)}`}</span>
        </div>
        {all === 0 ? (
          <p class="empty">No project yet. Authors make projects through the API.</p>
        ) : (
          <Toolbar
            view={view}
            search="Search project or task"
            states={PROJECT_STATES}
            state={view.projectState}
            orders={PROJECT_ORDERS}
            order={view.projectOrder}
          />
        )}
        {all > 0 && found === 0 && <p class="empty">No project matches.</p>}
      </section>
      <div class="projects">
        {items.map((one) => (
          <Project key={one.project} pool={pool} project={one} />
        ))}
      </div>
      <Pager what="projects" page={page} pages={pages} set={(next) => (view.page.value = next)} />
    </>
  );
}
