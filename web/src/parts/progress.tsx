// SPDX-License-Identifier: MIT
// A progress bar in several parts.
interface Props {
  /** The class and the size of each part. */
  parts: readonly (readonly [string, number])[];
  total: number;
  description: string;
}

export function Progress({ parts, total, description }: Props) {
  return (
    <div class="progress" role="img" aria-label={description}>
      {parts.map(
        ([name, value]) =>
          value > 0 && <span key={name} class={`piece-${name}`} style={{ width: `${(100 * value) / total}%` }} />,
      )}
    </div>
  );
}
