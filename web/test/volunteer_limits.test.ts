// SPDX-License-Identifier: MIT
// When the volunteer's page does not compute: limits of bytes, the connection, use of the machine, other tabs, expulsion.
import { expect, test, vi } from 'vitest';
import { alerts, fake, open, part, start, text, withLocks, withStorage } from './volunteer_page';

test('counts the bytes of frames and blobs', async () => {
  class Socket extends EventTarget {
    send() {}
  }
  vi.stubGlobal('location', { origin: 'http://127.0.0.1' });
  vi.stubGlobal('WebSocket', Socket);
  const { volunteer, node } = await start();
  const socket = node.options.connect();
  socket.send(new Uint8Array(10));
  socket.send(new Uint8Array(1));
  socket.dispatchEvent(new MessageEvent('message', { data: new ArrayBuffer(7) }));
  fake.count(500);
  expect([volunteer.sent.value, volunteer.received.value]).toEqual([11, 507]);
});

test('an expelled page stops and shows the reason', async () => {
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  hear('waiting', { code: 4001, reason: 'a wrong result', seconds: 1 });
  await vi.advanceTimersByTimeAsync(10);
  expect(node.stopped).toBe(0.5);
  expect(volunteer.phase.value).toBe('idle');
  expect(await text(volunteer)).toContain('Not computing');
  expect(await alerts(volunteer)).toContain('expelled this page: a wrong result. It waits');
});

test('an expelled page does not come back at once, also after a reload, and then as a new node', async () => {
  withStorage();
  withLocks();
  const { volunteer, node, hear } = await start();
  Object.assign(node, { identity: { node: 'n', key: 'k' } });
  hear('joined', {});
  hear('waiting', { code: 4001, reason: 'a wrong result', seconds: 1 });
  await vi.advanceTimersByTimeAsync(10);
  await volunteer.start();
  expect(fake.nodes.length).toBe(1);
  const again = await open();
  expect((await part(again, ({ class: name }) => /big/.test(name ?? ''))).disabled).toBe(true);
  expect(await alerts(again)).toContain('a wrong result');
  await again.start();
  expect(fake.nodes.length).toBe(1);
  await vi.advanceTimersByTimeAsync(3_601_000);
  fake.measured = Promise.resolve(7);
  await again.start();
  expect(fake.nodes.at(-1)!.options.identity).toEqual({});
});

test('a reload keeps the totals and the identity', async () => {
  withStorage();
  withLocks();
  const { volunteer, node, hear } = await start();
  expect(node.options.identity).toEqual({});
  Object.assign(node, { identity: { node: 'n', key: 'k' } });
  hear('joined', {});
  hear('result', { verdict: 'accepted' });
  await vi.advanceTimersByTimeAsync(2000);
  fake.page.dispatchEvent(new Event('pagehide'));
  await volunteer.stop();
  const again = await start();
  expect([again.volunteer.accepted.value, again.volunteer.seconds.value]).toEqual([1, 2]);
  expect(fake.nodes.at(-1)!.options.identity).toEqual({ node: 'n', key: 'k' });
});

test('one tab computes: another follows, takes over when the first is closed, and Stop stops both', async () => {
  withStorage();
  const locks = withLocks();
  await start();
  const second = await open();
  void second.start();
  await vi.advanceTimersByTimeAsync(10);
  expect(fake.nodes.length).toBe(1);
  expect(await text(second)).toContain('Another tab of this browser computes');
  locks.close(); // the first tab
  await vi.advanceTimersByTimeAsync(10);
  expect(fake.nodes.length).toBe(2);
  const third = await open();
  void third.start();
  await vi.advanceTimersByTimeAsync(10);
  await third.stop();
  expect(third.phase.value).toBe('idle');
  await vi.advanceTimersByTimeAsync(10);
  expect(fake.nodes.length).toBe(2);
});

test('pauses while somebody uses the machine, where the browser detects it', async () => {
  let detector: any;
  vi.stubGlobal(
    'IdleDetector',
    class extends EventTarget {
      static requestPermission = async () => 'granted';
      userState = 'active';
      screenState = 'unlocked';
      constructor() {
        super();
        detector = this;
      }
      async start() {}
    },
  );
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  const { watchPresence } = await import('../src/volunteer/presence');
  expect(await watchPresence(true)).toBe(true);
  volunteer.change({ onlyUnused: true });
  expect(await text(volunteer)).toContain('Paused while somebody uses this machine');
  expect(node.used.at(-1)).toBe(0);
  detector.userState = 'idle';
  detector.dispatchEvent(new Event('change'));
  expect(node.used.at(-1)).toBe(2);
});

test('does not offer to detect use where the browser cannot', async () => {
  const { canDetectPresence, watchPresence } = await import('../src/volunteer/presence');
  expect([canDetectPresence(), await watchPresence(true)]).toEqual([false, false]);
});

test('estimates the traffic before the button, with the limits', async () => {
  const volunteer = await open();
  expect(await text(volunteer)).toMatch(
    /not known, because no node has computed.*200 MB an hour and 1 GB a day.*Start computing/,
  );
  fake.usual = 14.8e9;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await text(volunteer)).toMatch(
    /about 14.8 GB an hour each.*after about 49 seconds of each hour.*Start computing/,
  );
  volunteer.change({ megabytesAnHour: 100_000 });
  expect(await text(volunteer)).not.toContain('of each hour');
  expect(fake.nodes).toEqual([]);
});

/** Starts, and counts bytes as a node does that sends and receives frames. */
async function connected() {
  class Socket extends EventTarget {
    send() {}
  }
  vi.stubGlobal('location', { origin: 'http://127.0.0.1' });
  vi.stubGlobal('WebSocket', Socket);
  const { volunteer, node, hear } = await start();
  hear('joined', {});
  const socket = node.options.connect();
  const hears = (bytes: number) =>
    socket.dispatchEvent(new MessageEvent('message', { data: { byteLength: bytes } as ArrayBuffer }));
  return { volunteer, node, socket, hears };
}

test('stops at the limit of an hour, also after a reload and in other tabs, and goes on afterwards', async () => {
  withStorage();
  const { volunteer, node, hears } = await connected();
  hears(150e6);
  expect(node.used.at(-1)).toBe(2);
  fake.count(48e6);
  expect(node.used.at(-1)).toBe(0);
  expect(await text(volunteer)).toMatch(/Paused until \d\d:\d\d: the limit of bytes is reached/);
  expect((node.options as any).maySend(1e6)).toBe(true);
  expect((node.options as any).maySend(3e6)).toBe(false);
  expect(() => fake.count(2e6)).toThrow('the limit of bytes is reached');
  fake.page.dispatchEvent(new Event('pagehide'));
  const again = await open();
  expect(again.paused.value).toContain('the limit of bytes');
  await vi.advanceTimersByTimeAsync(71 * 60_000);
  expect(again.paused.value).toBe('');
  expect(node.used.at(-1)).toBe(2);
});

test('a lower limit applies at once, and so does that of a day', async () => {
  const { volunteer, node, hears } = await connected();
  hears(60e6);
  volunteer.change({ megabytesAnHour: 50 });
  expect(node.used.at(-1)).toBe(0);
  volunteer.change({ megabytesAnHour: 500 });
  expect(node.used.at(-1)).toBe(2);
  volunteer.change({ megabytesADay: 60 });
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  expect(node.used.at(-1)).toBe(0);
});

test('pauses on a metered connection and while data saving is on, and loads nothing', async () => {
  const connection = Object.assign(new EventTarget(), { saveData: true, type: 'wifi' });
  vi.stubGlobal('navigator', { hardwareConcurrency: 4, userAgent: '', connection });
  const { volunteer, node, hear } = await (async () => {
    const { watchConnection } = await import('../src/volunteer/connection');
    watchConnection();
    return start();
  })();
  hear('joined', {});
  expect(await text(volunteer)).toContain('Paused while the connection is metered or data saving is on');
  expect([fake.seconds, node.used.at(-1)]).toEqual([[], 0]);
  connection.saveData = false;
  connection.dispatchEvent(new Event('change'));
  await vi.advanceTimersByTimeAsync(3000);
  expect([fake.seconds, node.used.at(-1)]).toEqual([[2], 2]);
  connection.type = 'cellular';
  connection.dispatchEvent(new Event('change'));
  expect(node.used.at(-1)).toBe(0);
  volunteer.change({ onMetered: true });
  expect(node.used.at(-1)).toBe(2);
});
