// SPDX-License-Identifier: MIT
// How much of a whole is done: a bar in pieces.
interface Props {
  /** The class of each piece, and how much it is. */
  parts: readonly (readonly [string, number])[];
  total: number;
  says: string;
}

export function Progress({ parts, total, says }: Props) {
  return (
    <div class="progress" role="img" aria-label={says}>
      {parts.map(([name, value]) => value > 0 && <span key={name} class={`piece-${name}`} style={{ width: `${(100 * value) / total}%` }} />)}
    </div>
  );
}
