// SPDX-License-Identifier: MIT
// The confusion matrix of the test set.
import { count, percent } from '../logic/format';
import type { Session } from '../state/session';

/** With more classes the numbers would be too small to read. */
const MAX_CLASSES = 20;

export function Confusion({ session }: { session: Session }) {
  const test = session.history.test.value,
    data = session.data.value;
  const output = session.network.value?.outputShape ?? [];
  const classes = output.length === 1 ? output[0] : (data?.classes.length ?? 10);
  return (
    <section class="card confusion" aria-label="Confusion matrix">
      <div class="card-header">
        <h2>Confusion</h2>
        <p class="note">
          {test && data
            ? `${percent(test.accuracy)} of ${count(data.test.images.shape[0])} test pictures`
            : 'Appears with the first test'}
        </p>
      </div>
      {classes > MAX_CLASSES ? (
        <p class="note">{count(classes)} classes are too many to show.</p>
      ) : (
        <Matrix classes={classes} names={data?.classes ?? []} counts={test?.confusion} />
      )}
      <p class="axes" aria-hidden="true">
        <span>Row: true class</span>
        <span>Column: predicted class</span>
      </p>
    </section>
  );
}

function Matrix({ classes, names: given, counts }: { classes: number; names: readonly string[]; counts?: Int32Array }) {
  const names = Array.from({ length: classes }, (_, i) => given[i] ?? String(i));
  const at = (row: number, column: number) => counts?.[row * classes + column] ?? 0;
  const sums = names.map((_, row) => names.reduce((sum, _, column) => sum + at(row, column), 0));
  return (
    <div class="matrix">
      <table>
        <caption class="hidden">Rows are the true classes, columns the predicted classes.</caption>
        <thead>
          <tr>
            <td class="corner" />
            {names.map((name) => (
              <th key={name} scope="col">
                <span>{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name, row) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {names.map((_, column) => (
                <td
                  key={column}
                  class={row === column ? 'right' : 'wrong'}
                  style={{ '--share': sums[row] ? Math.sqrt(at(row, column) / sums[row]).toFixed(3) : 0 }}
                >
                  {at(row, column) || <span class="nothing">{counts ? '·' : ''}</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
