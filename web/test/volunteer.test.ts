// SPDX-License-Identifier: MIT
// The volunteer's page: its node, measurements, texts and connection.
import { expect, test, vi } from 'vitest';
import { TRAINING, fake, offer, open, part, start, text } from './volunteer_page';

test('limits the time of the request for projects', async () => {
  await open();
  expect(fake.signals.length).toBeGreaterThan(0);
  expect(fake.signals.every((signal) => signal instanceof AbortSignal)).toBe(true);
});

test('announces the speed, and no trainer when it cannot train', async () => {
  const { node } = await start();
  expect(node.options).toMatchObject({ trainers: [{}], info: { gflops: 7 } });
  expect(fake.seconds).toEqual([2]);
  const other = await open();
  fake.measured = Promise.reject(new Error('no memory'));
  await other.start();
  expect(fake.nodes[1].options).toMatchObject({ trainers: [], info: { gflops: 0 } });
  expect(other.problem.value).toBe('no memory');
  fake.nodes[1].options.onEvent('joined', {});
  expect(other.problem.value).toBe('no memory');
});

test('measures and announces again when training starts later', async () => {
  fake.offers = [offer('primes')];
  const { volunteer, node, hear } = await start();
  expect(node.options).toMatchObject({ trainers: [{}], info: { gflops: 0 } });
  hear('joined', {});
  await vi.advanceTimersByTimeAsync(10_000);
  expect(node.announced).toEqual([]);
  fake.measured = Promise.resolve(7);
  fake.offers = [offer('primes'), TRAINING];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(node.announced).toMatchObject([{ trainers: [{}], info: { gflops: 7 } }]);
  const threads = volunteer.threads.value;
  expect(node.used).toEqual([threads, 0, threads]);
});

test('announces threads and speed when the slider rests', async () => {
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  fake.measured = Promise.resolve(9);
  for (const threads of [1, 3, 4, 3]) {
    volunteer.change({ threads });
    await vi.advanceTimersByTimeAsync(1000);
  }
  await vi.advanceTimersByTimeAsync(10_000);
  expect(node.announced).toMatchObject([{ trainers: [{}], info: { gflops: 9, threads: 3 } }]);
  expect(fake.trainers).toEqual([2, 3]);
  expect(node.used.at(-1)).toBe(3);
});

test('stops a new measurement too', async () => {
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  fake.measured = new Promise((_, reject) => (fake.fail = reject));
  volunteer.change({ threads: 1 });
  await vi.advanceTimersByTimeAsync(3000);
  expect(fake.trainers).toEqual([2, 1]);
  await volunteer.stop();
  await vi.advanceTimersByTimeAsync(10);
  expect([node.announced, volunteer.problem.value, volunteer.phase.value]).toEqual([[], '', 'idle']);
});

test('shows samples a second during training', async () => {
  const { volunteer, hear } = await start();
  hear('joined', {});
  hear('result', { verdict: 'accepted' });
  await vi.advanceTimersByTimeAsync(2000);
  expect(await text(volunteer)).not.toContain('Samples/s');
  for (let i = 0; i < 20; ++i) {
    hear('result', { verdict: 'accepted', samples: 32 });
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(volunteer.samplesRate.value).toBeGreaterThan(25);
  expect(volunteer.samplesRate.value).toBeLessThan(40);
  expect(await text(volunteer)).toContain('Samples/s');
  await vi.advanceTimersByTimeAsync(40_000);
  expect(volunteer.samplesRate.value).toBe(0);
  await volunteer.stop();
  expect(volunteer.samples.value).toBe(640);
});

test('says that its tickets wait for another node, unless it still computes one or other work can finish', async () => {
  const waiting = offer('compared', { waits: 'expected nodes of 2 addresses, got 1' });
  fake.offers = [waiting, offer('for machines', { modules: false, function: 'f' }), offer('through', { open: 0 })];
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  const said = async () => {
    await vi.advanceTimersByTimeAsync(5000);
    return (await part(volunteer, ({ role }) => role === 'status')).children;
  };
  expect(await said()).toBe('Waiting for another node: expected nodes of 2 addresses, got 1');
  node.busy = true;
  expect(await said()).toBe('Computing on 2 threads');
  node.busy = false;
  fake.offers = [waiting, offer('open')];
  expect(await said()).toBe('Computing on 2 threads');
  fake.offers = [offer('through', { open: 0 })];
  expect(await said()).toBe('Connected, waiting for work');
});

test('lists projects with work first', async () => {
  fake.offers = [
    offer('through', { open: 0, done: 5 }),
    offer('for machines', { modules: false, function: 'f' }),
    offer('open'),
  ];
  vi.stubGlobal('location', { host: '' });
  const volunteer = await open();
  const { Offer } = await import('../src/volunteer/offer');
  const names = (one: any): string[] =>
    Array.isArray(one)
      ? one.flatMap(names)
      : one?.props?.project
        ? [one.props.project.name]
        : one?.props
          ? names(one.props.children)
          : [];
  expect(names(Offer({ volunteer }))).toEqual(['open', 'through', 'for machines']);
});

test('polls less often while the coordinator does not answer', async () => {
  await open();
  const asked = fake.signals.length;
  vi.stubGlobal('fetch', async () => {
    fake.signals.push(null);
    throw new Error('no answer');
  });
  await vi.advanceTimersByTimeAsync(100_000);
  expect(fake.signals.length - asked).toBeLessThan(16);
  expect(fake.signals.length - asked).toBeGreaterThan(8);
});

test('can stop during the measurement', async () => {
  const volunteer = await open(),
    starting = volunteer.start();
  expect(await text(volunteer)).toContain("Measuring this machine's speed");
  await volunteer.stop();
  await starting;
  expect(volunteer.problem.value).toBe('');
  expect(volunteer.phase.value).toBe('idle');
  expect(fake.nodes).toEqual([]);
});

test('computes again when the browser restores the page', async () => {
  const { volunteer, node } = await start(),
    threads = volunteer.threads.value;
  fake.page.dispatchEvent(new Event('pagehide'));
  expect(node.used.at(-1)).toBe(0);
  fake.page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  expect(node.used.at(-1)).toBe(threads);
});

test('says that the coordinator does not answer, though no packet has closed the connection', async () => {
  const { volunteer, hear } = await start();
  hear('joined', {});
  vi.stubGlobal('fetch', async () => {
    throw new Error('no answer');
  });
  await vi.advanceTimersByTimeAsync(5000);
  expect(await text(volunteer)).toContain('The coordinator does not answer');
  expect(fake.nodes[0].options).toMatchObject({ silence: 30 });
});

test('shows what it computes for before the button, and no figures before the first start', async () => {
  const volunteer = await open();
  expect(await text(volunteer)).toMatch(/computes for training on .*Start computing/);
  expect(await text(volunteer)).not.toContain('Tickets done');
  fake.offers = ['a', 'b', 'c', 'd', 'e'].map((name) => offer(name));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await text(volunteer)).toContain('a, b, c and 2 other projects');
});

test("shows the coordinator's reason for closing the connection", async () => {
  const { volunteer, node, hear } = await start();
  hear('waiting', { code: 1008, reason: 'expected fewer connections', seconds: 1 });
  expect(await text(volunteer)).toContain('closed the connection: expected fewer connections; trying again');
  hear('waiting', { code: 1006, reason: 'no connection', seconds: 1 });
  expect(await text(volunteer)).toContain('The coordinator does not answer; trying again');
  expect(node.stopped).toBe(false);
});

test("does not change the screen reader's text every second", async () => {
  const { volunteer, hear } = await start();
  const said = async () => (await part(volunteer, ({ role }) => role === 'status')).children;
  const countdown = async () => (await part(volunteer, ({ seconds }) => seconds !== undefined))?.seconds;
  expect(await countdown()).toBeUndefined();
  hear('waiting', { code: 1006, reason: '', seconds: 20 });
  const first = await countdown();
  for (const passed of [0, 5]) {
    await vi.advanceTimersByTimeAsync(1000 * passed);
    expect(await said()).toBe('The coordinator does not answer; trying again');
    expect(await countdown()).toBe(first - passed);
  }
});

test('the consent text lists everything that is read', async () => {
  const said = await text(await open());
  for (const what of ['browser', 'operating system', 'number of threads', 'speed', 'name', 'battery'])
    expect(said).toContain(what);
});
