// SPDX-License-Identifier: MIT
// The results of the worker: models of points in the plane, and principal components of pictures.
import type { Learn, Model } from 'kaiseki/learn';
import { ellipsesOf, type Ellipse } from '../logic/ellipse';
import { contour, fieldOfLabels, fieldOfMargins, fieldOfProbabilities, grid, type Field } from '../logic/field';
import type { Pictures } from '../logic/idx';

export interface PlaneRequest {
  name: string;
  settings: Record<string, number | string>;
  /** x and y of each point. */
  points: Float32Array<ArrayBuffer>;
  labels: Int32Array<ArrayBuffer>;
  clusters: boolean;
}

export interface Fitted {
  /** Null: the model has no score. */
  score: number | null;
  milliseconds: number;
  /** x and y of each center of k-means. */
  centers: Float32Array<ArrayBuffer>;
  ellipses: Ellipse[];
  /** The cluster of each point. Empty for classifiers. */
  clusters: Int32Array<ArrayBuffer>;
}

export interface Drawing {
  field: Field;
  /** Segments of the boundary and of the margin of a support vector machine. */
  boundary: number[];
  margin: number[];
}

/** Fits a model. The caller disposes of it. */
export function fitPlane(learn: Learn, request: PlaneRequest): { model: Model; fitted: Fitted } {
  const { name, settings, points, labels, clusters } = request,
    shape = [labels.length, 2] as const,
    y = clusters ? undefined : labels;
  const model = learn.model(name, settings);
  try {
    const start = performance.now();
    model.fit(points, shape, y);
    const milliseconds = performance.now() - start;
    const score = model.hasScore ? model.score(points, shape, y) : null;
    const found = clusters ? Int32Array.from(model.apply('predict', points, shape)) : new Int32Array();
    return { model, fitted: { score, milliseconds, clusters: found, ...marksOf(model) } };
  } catch (error) {
    model.dispose();
    throw error;
  }
}

/** The centers of k-means, or the ellipses of a mixture. */
function marksOf(model: Model): Pick<Fitted, 'centers' | 'ellipses'> {
  const none = { centers: new Float32Array(), ellipses: [] };
  if (model.task !== 'clustering') return none;
  const { centers, means, covariances } = model.state().tensors;
  if (centers) return { ...none, centers: Float32Array.from(centers.values) };
  if (!means || !covariances) return none;
  return { ...none, ellipses: ellipsesOf(String(model.settings.covariance_type), means.values, covariances.values) };
}

/** The decision function of a fitted model on side x side cells. */
export function drawPlane(model: Model, { labels }: PlaneRequest, side: number): Drawing {
  const cells = grid(side),
    shape = [side * side, 2] as const,
    lines = { boundary: [], margin: [] },
    classes = [...new Set(labels)].sort((a, b) => a - b);
  const values = (use: Parameters<Model['apply']>[0]) => model.apply(use, cells, shape);
  if (model.uses.includes('predict_proba')) {
    const shares = values('predict_proba'),
      count = shares.length / (side * side),
      columns = model.task === 'clustering' ? Array.from({ length: count }, (_, i) => i) : classes;
    return { field: fieldOfProbabilities(side, shares, columns), ...lines };
  }
  if (model.uses.includes('decision_function') && classes.length === 2) {
    const heights = values('decision_function');
    return {
      field: fieldOfMargins(side, heights, classes),
      boundary: contour(heights, side, 0),
      margin: [...contour(heights, side, -1), ...contour(heights, side, 1)],
    };
  }
  return { field: fieldOfLabels(side, values('predict')), ...lines };
}

/** The number of principal components that the page shows. Small sets have fewer. */
const COMPONENTS = 8;

export interface Components {
  /** A picture for each component, row by row. */
  pictures: Float32Array<ArrayBuffer>;
  mean: Float32Array<ArrayBuffer>;
  /** The part of the variance of each component. */
  ratios: Float32Array<ArrayBuffer>;
  /** For each picture, its value of each component. */
  places: Float32Array<ArrayBuffer>;
  milliseconds: number;
}

export function componentsOf(learn: Learn, { images, shape: [count, height, width] }: Pictures): Components {
  const shape = [count, height * width] as const;
  const model = learn.model('PCA', { n_components: Math.min(COMPONENTS, count, height * width) });
  try {
    const x = Float32Array.from(images, (byte) => byte / 255);
    const start = performance.now();
    model.fit(x, shape);
    const places = model.apply('transform', x, shape) as Float32Array<ArrayBuffer>;
    const milliseconds = performance.now() - start;
    const { components, mean, explained_variance_ratio: ratios } = model.state().tensors;
    return {
      pictures: Float32Array.from(components.values),
      mean: Float32Array.from(mean.values),
      ratios: Float32Array.from(ratios.values),
      places,
      milliseconds,
    };
  } finally {
    model.dispose();
  }
}
