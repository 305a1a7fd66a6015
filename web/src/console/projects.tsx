// SPDX-License-Identifier: MIT
// Projects with their tasks: how far they are, and what an author can do about them.
import { useState } from 'preact/hooks';
import { count, rate } from '../logic/format';
import { Progress } from '../parts/progress';
import type { Task } from './api';
import { TrainingCharts } from './charts';
import type { Pool } from './pool';
import { Sure } from './sure';
import { Table } from './table';

function Priority({ pool, task: { task, name, priority } }: { pool: Pool; task: Task }) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <label class="priority">
      <span class="hidden">Priority of {name}</span>
      <input type="number" min={-1000} max={1000} value={typed ?? priority} onBlur={() => setTyped(null)}
             onInput={({ currentTarget }) => setTyped(currentTarget.value)}
             onChange={({ currentTarget }) => {
               if (currentTarget.reportValidity() && currentTarget.value !== '') void pool.change(task, { priority: currentTarget.valueAsNumber });
             }} />
    </label>
  );
}

function Actions({ pool, task: { task, name, state } }: { pool: Pool; task: Task }) {
  if (state === 'cancelled') return null;
  const goes = state === 'running';
  return (
    <div class="actions">
      <button class="button small" aria-label={`${goes ? 'Pause' : 'Resume'} ${name}`}
              onClick={() => void pool.change(task, { state: goes ? 'paused' : 'running' })}>{goes ? 'Pause' : 'Resume'}</button>
      <Sure text="Cancel" label={`Cancel ${name}`} act={() => void pool.change(task, { state: 'cancelled' })} />
    </div>
  );
}

function Row({ pool, task }: { pool: Pool; task: Task }) {
  const { name, state, free, leased, done, dead, waits } = task;
  const total = free + leased + done + dead;
  const author = pool.role.value === 'author';
  return (
    <tr role="row">
      <th role="rowheader" scope="row" class="name">{name || `Task ${task.task}`}<small>{task.function || 'module'}{task.verification !== 'none' && `, ${task.verification}`}</small></th>
      <td role="cell" data-label="State" class="state"><span class={`badge badge-${state}`}>{state}</span></td>
      <td role="cell" data-label="Progress" class="wide">
        <p class="task-line"><span>{count(done)} of {count(total)}</span>
          <span>{leased > 0 && `${count(leased)} out`}{dead > 0 && <b class="bad"> {count(dead)} dead</b>}</span></p>
        <Progress parts={[['done', done], ['leased', leased], ['dead', dead]]} total={total}
                  says={`${name}: ${done} done, ${leased} out, ${free} free, ${dead} dead`} />
        {waits && <small>Waits: {waits}</small>}
      </td>
      <td role="cell" data-label="Tickets/s" class="number">{rate(pool.rates.value[task.task] ?? 0)}</td>
      <td role="cell" data-label="Priority" class="number">{author && state !== 'cancelled' ? <Priority pool={pool} task={task} /> : task.priority}</td>
      {author && <td role="cell" class="last"><Actions pool={pool} task={task} /></td>}
    </tr>
  );
}

const COLUMNS = [['name', 'Task'], ['state', 'State'], ['wide', 'Progress'], ['number', 'Tickets/s'], ['number', 'Priority']] as const;

export function Projects({ pool }: { pool: Pool }) {
  const projects = [...pool.projects.value].reverse(); // the newest first
  const author = pool.role.value === 'author';
  return (
    <>
      {projects.length === 0 && (
        <section class="plate" aria-label="Projects"><h2>Projects</h2><p class="empty">No project yet: authors make them over the API.</p></section>
      )}
      {projects.map(({ project, name, weight, trains }) => {
        const tasks = pool.tasks.value.filter((task) => task.project === project);
        return (
          <section key={project} class="plate" aria-label={`Project ${name}`}>
            <div class="plate-head"><h2>{name || `Project ${project}`}</h2>{weight !== 1 && <span class="note">weight {rate(weight)}</span>}</div>
            {trains && <TrainingCharts pool={pool} project={project} />}
            {tasks.length === 0 ? <p class="empty">No task yet.</p> : (
              <Table columns={COLUMNS} actions={author}>{tasks.map((task) => <Row key={task.task} pool={pool} task={task} />)}</Table>
            )}
          </section>
        );
      })}
    </>
  );
}
