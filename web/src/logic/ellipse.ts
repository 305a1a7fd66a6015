// SPDX-License-Identifier: MIT
// The ellipses of normal distributions in the plane, at one standard deviation.

export interface Ellipse {
  x: number;
  y: number;
  /** The standard deviations along both axes, and the angle of the first one, counterclockwise. */
  wide: number;
  narrow: number;
  angle: number;
}

/** The variances of x and y and their covariance, of one component. `kind` is a covariance_type of the library. */
function covarianceOf(kind: string, values: ArrayLike<number>, i: number): [xx: number, xy: number, yy: number] {
  switch (kind) {
    case 'full':
      return [values[4 * i], values[4 * i + 1], values[4 * i + 3]];
    case 'tied':
      return [values[0], values[1], values[3]];
    case 'diag':
      return [values[2 * i], 0, values[2 * i + 1]];
    default:
      return [values[i], 0, values[i]];
  }
}

export function ellipsesOf(kind: string, means: ArrayLike<number>, covariances: ArrayLike<number>): Ellipse[] {
  return Array.from({ length: means.length / 2 }, (_, i) => {
    const [xx, xy, yy] = covarianceOf(kind, covariances, i);
    const middle = (xx + yy) / 2,
      radius = Math.hypot((xx - yy) / 2, xy);
    return {
      x: means[2 * i],
      y: means[2 * i + 1],
      wide: Math.sqrt(middle + radius),
      narrow: Math.sqrt(Math.max(0, middle - radius)),
      angle: Math.atan2(2 * xy, xx - yy) / 2,
    };
  });
}
