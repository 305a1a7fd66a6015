// SPDX-License-Identifier: MIT
// The state of the plane: points, the model with its settings, and the last answer of the worker.
import { batch, computed, effect, signal } from '@preact/signals';
import { MODELS, lacks, modelOf, settingsOf, startOf, type Values } from '../logic/models';
import { MOST_POINTS, makePoints, nearest, type Point, type Preset } from '../logic/presets';
import type { Drawing, Fitted } from './answers';
import type { Learner } from './learner';

/** The classes that a user can draw. */
export const CLASSES = 4;
const ERASER_REACH = 0.08;

export type Tool = number | 'eraser';

export class PlaneState {
  readonly points = signal<readonly Point[]>(makePoints('moons', 1));
  /** The class of new points, or the eraser. */
  readonly tool = signal<Tool>(0);
  readonly name = signal(MODELS[0].name);
  readonly model = computed(() => modelOf(this.name.value));
  readonly #positions = signal<Readonly<Record<string, Values>>>({});
  /** The positions of the model's controls. */
  readonly values = computed(() => this.#positions.value[this.name.value] ?? startOf(this.model.value));
  /** Why the model is not fitted. Empty: it is. */
  readonly lack = computed(() =>
    lacks(
      this.model.value,
      this.values.value,
      this.points.value.map(({ label }) => label),
    ),
  );
  readonly fitted = signal<Fitted | null>(null);
  readonly drawing = signal<Drawing | null>(null);
  readonly problem = signal('');
  #seed = 1;

  constructor(learner: Learner) {
    effect(() => {
      const points = this.points.value,
        model = this.model.value,
        settings = settingsOf(model, this.values.value);
      if (this.lack.value) {
        this.#show(null, null, '');
        return;
      }
      const request = {
        name: model.name,
        settings,
        clusters: model.clusters,
        points: Float32Array.from(points.flatMap(({ x, y }) => [x, y])),
        labels: Int32Array.from(points, ({ label }) => label),
      };
      learner.plane(request, (told) => {
        if (points !== this.points.peek() && this.lack.peek()) return; // the points were cleared meanwhile
        if ('failure' in told) this.#show(null, null, told.failure);
        else this.#show(told.fitted, told.drawing, '');
      });
    });
  }

  #show(fitted: Fitted | null, drawing: Drawing | null, problem: string): void {
    batch(() => {
      this.fitted.value = fitted;
      this.drawing.value = drawing;
      this.problem.value = problem;
    });
  }

  set(key: string, value: number | string): void {
    const values = { ...this.values.value, [key]: value };
    this.#positions.value = { ...this.#positions.value, [this.name.value]: values };
  }

  preset(preset: Preset): void {
    this.points.value = makePoints(preset, ++this.#seed);
  }

  clear(): void {
    this.points.value = [];
  }

  /** Adds a point or erases near ones, and returns what it did, as a text. */
  use(at: { x: number; y: number }): string {
    const { points, tool } = this;
    if (tool.value === 'eraser') {
      const found = nearest(points.value, at, ERASER_REACH);
      if (found < 0) return 'There is no point here.';
      points.value = points.value.filter((_, i) => i !== found);
      return `Removed a point, ${points.value.length} left.`;
    }
    if (points.value.length >= MOST_POINTS) return `The plane is full: ${MOST_POINTS} points.`;
    points.value = [...points.value, { ...at, label: tool.value }];
    return `Added a point of class ${tool.value + 1}, ${points.value.length} in all.`;
  }
}
