// SPDX-License-Identifier: MIT
// Usage: node first_step.js [COUNT]. Prints the milliseconds from opening the page to each event up to the first
// training step. The times are medians of COUNT (7) first visits, and of as many second visits. Start is pressed as
// soon as possible. KAISEKI_COMMAND serves the page.
import { serveByCommand } from './command.js';
import { launch } from './page.js';
import { watch } from './worker.js';

const count = Number(process.argv[2] ?? 7);

const press = () =>
  new Promise((resolve) => {
    const times = globalThis.kaisekiTimes;
    const look = () => {
      const button = [...document.querySelectorAll('button:enabled')].find(
        ({ textContent }) => textContent.trim() === 'Start',
      );
      if (button && !times.ready) {
        times.ready = performance.now();
        button.click();
      }
      if (times.step) resolve(times);
      else setTimeout(look, 1);
    };
    look();
  });

async function visit(context, address) {
  const page = await context.newPage();
  await page.goto(address, { waitUntil: 'commit' });
  const times = await page.evaluate(press);
  await page.close();
  return times;
}

const middle = (values) => Math.round(values.sort((a, b) => a - b)[values.length >> 1]);

const server = await serveByCommand(),
  browser = await launch();
const visits = { first: [], second: [] };
for (let i = 0; i < count; ++i) {
  const context = await browser.newContext();
  await watch(context);
  for (const which of ['first', 'second']) visits[which].push(await visit(context, server.address));
  await context.close();
}
for (const [which, times] of Object.entries(visits)) {
  const names = Object.keys(times[0]).filter((name) => name !== 'undefined');
  const medians = Object.fromEntries(names.map((name) => [name, middle(times.map((one) => one[name]))]));
  console.log(JSON.stringify({ bench: 'web', case: 'first step', visit: which, count, unit: 'ms', ...medians }));
}
await browser.close();
await server.close();
