// SPDX-License-Identifier: MIT
// The recipe of a network (docs/network-json.md), as the page uses it. Pictures of the page have the size of the
// network's input, so they are not resized.
import type { Normalization, OptimizerOptions, Recipe, Schedule } from 'kaiseki';
import { rate } from './format';

export const optimizerOptions = (recipe: Recipe): OptimizerOptions => ({
  momentum: recipe.momentum,
  weightDecay: recipe.weight_decay,
  clipNorm: recipe.clip_norm,
});

/** The schedule after `done` epochs. After `epochs` epochs it begins again. */
export const scheduleOf = (recipe: Recipe, epochs: number, done: number): Schedule => ({
  name: recipe.schedule,
  epochs,
  done: (Math.round(done * 1e6) / 1e6) % epochs,
  warmup: recipe.warmup,
  stepSize: recipe.step_size,
  gamma: recipe.gamma,
  minimumRate: recipe.minimum_rate,
});

/** The random changes of pictures. A crop without padding needs larger pictures. */
export function augmentationOf({ augment = 'none', resize }: Recipe): string {
  const parts = augment.split(',').filter((part) => !resize || part !== 'crop');
  return parts.join(',') || 'none';
}

/** The recipe's normalization. Throws if it does not fit the number of channels. */
export function normalizationOf({ mean, std }: Recipe, channels: number): Normalization {
  for (const [name, values] of Object.entries({ mean, std }))
    if (values && values.length !== 1 && values.length !== channels)
      throw new Error(`[network] recipe.${name}: expected 1 number or ${channels}, got ${values.length}`);
  return { mean, std };
}

const inEpochs = (value: number) => `${value} ${value === 1 ? 'epoch' : 'epochs'}`;

/** The settings that the page takes from a recipe beside the panel's fields. Also the settings that it leaves out. */
export function describe(recipe: Recipe): { used: string; left: string } {
  const { schedule = 'constant', warmup, momentum, weight_decay, clip_norm, step_size, minimum_rate } = recipe;
  const augment = augmentationOf(recipe);
  const used = [
    schedule !== 'constant' && `${schedule} schedule`,
    step_size && schedule === 'step' && `a lower rate every ${inEpochs(step_size)}`,
    minimum_rate && `last rate ${rate(minimum_rate)}`,
    warmup && `warm-up over ${inEpochs(warmup)}`,
    momentum !== undefined && `momentum ${momentum}`,
    weight_decay && `weight decay ${weight_decay}`,
    clip_norm && `gradient norm up to ${clip_norm}`,
    (recipe.mean || recipe.std) && 'normalized pictures',
    augment !== 'none' && `random ${augment.replace(',', ' and ').replace(/crop:?\d*/, 'shift')}`,
  ].filter(Boolean);
  const left = [
    recipe.resize && `resizing to ${recipe.resize}`,
    recipe.augment && augment !== recipe.augment && 'random crops',
  ].filter(Boolean);
  return { used: used.join(', '), left: left.join(', ') };
}
