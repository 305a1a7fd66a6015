// SPDX-License-Identifier: MIT
// The projects and tasks that are computed.
import { count } from '../logic/format';
import { Progress } from '../parts/progress';
import { runsInPages, hasWork, type Offered, type TaskCounts, type Volunteer } from './volunteer';

function Task({ task }: { task: TaskCounts }) {
  const { name, open, done } = task;
  const total = open + done;
  return (
    <li>
      <p class="task-line">
        <b>{name || 'an unnamed task'}</b>
        <span>{runsInPages(task) ? `${count(done)} of ${count(total)}` : 'not for pages'}</span>
      </p>
      <Progress
        parts={[['done', done]]}
        total={total}
        description={`${name}: ${count(done)} of ${count(total)} tickets done`}
      />
    </li>
  );
}

function Project({ project: { name, tasks } }: { project: Offered }) {
  return (
    <li class="offer">
      <h3>{name || 'An unnamed project'}</h3>
      <ul class="task-list">
        {tasks.map((task) => (
          <Task key={task.task} task={task} />
        ))}
      </ul>
    </li>
  );
}

export function Offer({ volunteer }: { volunteer: Volunteer }) {
  const offered = volunteer.offered.value;
  const inOrder = [...(offered ?? [])].sort((a, b) => Number(hasWork(b)) - Number(hasWork(a)));
  return (
    <section class="card" aria-label="Projects">
      <div class="card-header">
        <h2>Projects</h2>
        <span class="note">for {location.host}</span>
      </div>
      {inOrder.length ? (
        <ul class="offers">
          {inOrder.map((project) => (
            <Project key={project.project} project={project} />
          ))}
        </ul>
      ) : (
        <p class="empty">
          {offered
            ? 'No project has work for volunteers now. Start anyway: this page gets work as soon as there is some.'
            : 'The coordinator does not answer. This page tries again every few seconds.'}
        </p>
      )}
    </section>
  );
}
