// SPDX-License-Identifier: MIT
// What is computed, and for whom.
import { count } from '../logic/format';
import { Progress } from '../parts/progress';
import { forPages, hasWork, type Offered, type TaskCounts, type Volunteer } from './volunteer';

function Task({ task }: { task: TaskCounts }) {
  const { name, open, done } = task;
  const total = open + done;
  return (
    <li>
      <p class="task-line">
        <b>{name || 'a task without a name'}</b>
        <span>{forPages(task) ? `${count(done)} of ${count(total)}` : 'not for pages'}</span>
      </p>
      <Progress parts={[['done', done]]} total={total} says={`${name}: ${count(done)} of ${count(total)} tickets done`} />
    </li>
  );
}

function Project({ project: { name, tasks } }: { project: Offered }) {
  return (
    <li class="offer">
      <h3>{name || 'A project without a name'}</h3>
      <ul class="task-list">{tasks.map((task) => <Task key={task.task} task={task} />)}</ul>
    </li>
  );
}

export function Offer({ volunteer }: { volunteer: Volunteer }) {
  const offered = volunteer.offered.value;
  const inOrder = [...offered ?? []].sort((a, b) => Number(hasWork(b)) - Number(hasWork(a)));
  return (
    <section class="plate" aria-label="What is computed">
      <div class="plate-head">
        <h2>What is computed</h2>
        <span class="note">for {location.host}</span>
      </div>
      {inOrder.length
        ? <ul class="offers">{inOrder.map((project) => <Project key={project.project} project={project} />)}</ul>
        : <p class="empty">{offered ? 'No project has work for everyone at present. A page that waits gets it as soon as there is some.'
          : 'The coordinator does not answer. This page asks it again every few seconds.'}</p>}
    </section>
  );
}
