// SPDX-License-Identifier: MIT
// The models of the playground, with their most important settings. Names are those of kaiseki/learn.

export type Values = Readonly<Record<string, number | string>>;

interface Common {
  /** The name that the library has for the setting. */
  key: string;
  label: string;
  /** Whether the setting has an effect. Default: always. */
  used?: (values: Values) => boolean;
}

export interface Slider extends Common {
  kind: 'slider';
  least: number;
  most: number;
  step: number;
  /** The slider is at the logarithm, with base 10. */
  logarithmic?: boolean;
  start: number;
}

export interface Choice extends Common {
  kind: 'choice';
  options: Readonly<Record<string, string>>;
  start: string;
}

export interface ModelChoice {
  name: string;
  title: string;
  about: string;
  /** Clusterings do not use the classes of points. */
  clusters: boolean;
  settings: readonly (Slider | Choice)[];
}

const whole = (key: string, label: string, least: number, most: number, start: number): Slider => ({
  kind: 'slider',
  key,
  label,
  least,
  most,
  step: 1,
  start,
});

const powers = (key: string, label: string, least: number, most: number, start: number): Slider => ({
  kind: 'slider',
  key,
  label,
  least,
  most,
  step: 0.25,
  logarithmic: true,
  start,
});

const SEED = whole('seed', 'Random start', 0, 20, 0);
const CRITERION: Choice = {
  kind: 'choice',
  key: 'criterion',
  label: 'Criterion',
  options: { gini: 'Gini', entropy: 'Entropy' },
  start: 'gini',
};

export const MODELS: readonly ModelChoice[] = [
  {
    name: 'SVC',
    title: 'SVM',
    about: 'Support vector machine. With two classes, lines show the boundary and the margin.',
    clusters: false,
    settings: [
      { kind: 'choice', key: 'kernel', label: 'Kernel', options: { rbf: 'Gaussian', linear: 'Linear' }, start: 'rbf' },
      powers('C', 'C, the weight of errors', -2, 3, 0),
      { ...powers('gamma', 'Gamma, the sharpness', -1, 2, 0.5), used: ({ kernel }) => kernel !== 'linear' },
    ],
  },
  {
    name: 'LogisticRegression',
    title: 'Logistic regression',
    about: 'One line between two classes, with probabilities.',
    clusters: false,
    settings: [powers('C', 'C, the weight of errors', -3, 3, 0)],
  },
  {
    name: 'KNeighborsClassifier',
    title: 'Nearest neighbors',
    about: 'The nearest points vote.',
    clusters: false,
    settings: [
      whole('n_neighbors', 'Neighbors', 1, 30, 5),
      {
        kind: 'choice',
        key: 'weights',
        label: 'Votes',
        options: { uniform: 'All equal', distance: 'Near ones count more' },
        start: 'uniform',
      },
    ],
  },
  {
    name: 'DecisionTreeClassifier',
    title: 'Decision tree',
    about: 'Splits the plane at one coordinate after another.',
    clusters: false,
    settings: [
      whole('max_depth', 'Depth', 1, 12, 4),
      whole('min_samples_leaf', 'Points in a leaf', 1, 20, 1),
      CRITERION,
    ],
  },
  {
    name: 'RandomForestClassifier',
    title: 'Random forest',
    about: 'The mean of many trees, each grown from a random part of the points.',
    clusters: false,
    settings: [whole('n_estimators', 'Trees', 1, 60, 20), whole('max_depth', 'Depth', 1, 12, 6), SEED],
  },
  {
    name: 'GaussianNB',
    title: 'Naive Bayes',
    about: 'One normal distribution for each class. The coordinates are independent.',
    clusters: false,
    settings: [powers('var_smoothing', 'Smoothing', -9, 1, -9)],
  },
  {
    name: 'KMeans',
    title: 'k-means',
    about: 'Finds centers. It does not use the classes of the points.',
    clusters: true,
    settings: [whole('n_clusters', 'Clusters', 1, 8, 3), whole('n_init', 'Starts', 1, 10, 3), SEED],
  },
  {
    name: 'GaussianMixture',
    title: 'Gaussian mixture',
    about: 'Finds normal distributions. It does not use the classes. Ellipses are at one and two deviations.',
    clusters: true,
    settings: [
      whole('n_components', 'Components', 1, 8, 3),
      {
        kind: 'choice',
        key: 'covariance_type',
        label: 'Covariances',
        options: { full: 'Any', tied: 'The same for all', diag: 'Along the axes', spherical: 'Circles' },
        start: 'full',
      },
      SEED,
    ],
  },
];

export const modelOf = (name: string): ModelChoice => MODELS.find((model) => model.name === name)!;

/** The positions of all controls at the start. */
export const startOf = (model: ModelChoice): Values =>
  Object.fromEntries(model.settings.map(({ key, start }) => [key, start]));

/** The value for the library of a slider's position. */
export const valueAt = (slider: Slider, position: number): number =>
  slider.logarithmic ? Number((10 ** position).toPrecision(3)) : position;

/** The settings for the library. */
export function settingsOf(model: ModelChoice, values: Values): Record<string, number | string> {
  const used = model.settings.filter((setting) => setting.used?.(values) ?? true);
  return Object.fromEntries(
    used.map((setting) => [
      setting.key,
      setting.kind === 'slider' ? valueAt(setting, Number(values[setting.key])) : values[setting.key],
    ]),
  );
}

/** Why the model cannot be fitted to these labels. Empty: it can. */
export function lacks(model: ModelChoice, values: Values, labels: readonly number[]): string {
  if (!model.clusters) return new Set(labels).size < 2 ? 'Add points of two classes, or choose a preset.' : '';
  const least = Math.max(2, Number(values.n_clusters ?? values.n_components));
  return labels.length < least ? `Add at least ${least} points, or choose a preset.` : '';
}
