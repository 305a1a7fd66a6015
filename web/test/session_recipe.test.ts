// SPDX-License-Identifier: MIT
// The session trains as the recipe of the network says.
import { expect, test } from 'vitest';
import { eventually, fake, session, step } from './session_library';

test("uses the settings of a network's recipe, and keeps the others", async () => {
  const settings = () => [session.optimizer.value, session.learningRate.value, session.batchSize.value];
  expect(settings()).toEqual(['momentum', 0.03, 64]); // of LeNet, which the page opens
  await session.useNetwork('{"recipe": {"learning_rate": 0.05, "batch_size": 96, "weight_decay": 0.1}}');
  expect(settings()).toEqual(['momentum', 0.05, 96]);
  await session.start();
  expect(fake.libraries[0].optimizers).toEqual([
    ['momentum', expect.objectContaining({ learningRate: 0.05, weightDecay: 0.1 })],
  ]);
  await session.useNetwork('{"recipe": {"optimizer": "adam", "learning_rate": 0.002}}');
  expect(settings()).toEqual(['adam', 0.002, 96]);
  await session.useNetwork('{"layers": []}');
  expect(settings()).toEqual(['adam', 0.002, 96]);
});

const RECIPE = { epochs: 4, schedule: 'cosine', warmup: 0.5, augment: 'flip,crop:2', mean: [0.2], std: [0.5] };

test('trains for the epochs of the recipe, with its schedule, augmentation and normalization', async () => {
  await session.useNetwork(JSON.stringify({ recipe: RECIPE }));
  await session.start();
  const [{ options, data, finish }] = fake.libraries[0].trainings;
  expect(options).toMatchObject({
    schedule: { name: 'cosine', epochs: 4, done: 0, warmup: 0.5 },
    augment: 'flip,crop:2',
  });
  expect(data).toMatchObject({ mean: [0.2], std: [0.5] });
  options.onStep!({ ...step(240), samples: 4 * 3000 });
  finish();
  await eventually(() => expect(session.notice.value).toBe('Finished after 4 epochs'));
  expect([session.phase.value, session.finished.value, session.history.epoch.value]).toEqual(['paused', true, 4]);
  await session.start();
  expect([session.phase.value, session.finished.value]).toEqual(['running', false]);
  expect(fake.libraries[0].trainings[1].options.schedule).toMatchObject({ epochs: 4, done: 0 });
});

test('continues the schedule where it was, also after other epochs are entered', async () => {
  await session.useNetwork(JSON.stringify({ recipe: RECIPE }));
  await session.start();
  fake.libraries[0].trainings[0].options.onStep!({ ...step(90), samples: 4500 });
  await session.pause();
  session.setEpochs(6);
  expect(fake.libraries[0].trainings[0].options.signal!.aborted).toBe(true);
  await session.start();
  expect(fake.libraries[0].trainings[1].options.schedule).toMatchObject({ epochs: 6, done: 1.5 });
  expect(fake.libraries[0].optimizers.length).toBe(1);
});

test('rejects a normalization of another number of channels', async () => {
  await session.useNetwork('{"recipe": {"mean": [0.1, 0.2, 0.3]}}');
  expect(session.problems.value.network).toBe('[network] recipe.mean: expected 1 number or 1, got 3');
});
