// SPDX-License-Identifier: MIT
// Usage: node playground_time.js [COUNT]. Prints the milliseconds from opening the playground to its first decision
// function. The times are medians of COUNT (7) first visits, and of as many second visits. KAISEKI_COMMAND serves the
// built page.
import { Coordinator } from './coordinator.js';
import { launch } from './page.js';

const count = Number(process.argv[2] ?? 7);

const firstDrawing = () =>
  new Promise((resolve) => {
    const look = () => {
      const figures = document.querySelector('.stats')?.textContent ?? '';
      if (/\d ms/.test(figures)) resolve(performance.now());
      else setTimeout(look, 1);
    };
    look();
  });

/** The time, and the bytes that the page and its worker received until then. */
async function visit(context, address) {
  const page = await context.newPage();
  let received = 0;
  page.on('requestfinished', async (request) => {
    const { responseBodySize } = await request.sizes();
    received += responseBodySize;
  });
  await page.goto(`${address}/playground/`, { waitUntil: 'commit' });
  const milliseconds = await page.evaluate(firstDrawing);
  await page.close();
  return { milliseconds, received };
}

const middle = (values) => Math.round(values.sort((a, b) => a - b)[values.length >> 1]);

const server = await Coordinator.start(),
  browser = await launch();
const visits = { first: [], second: [] };
for (let i = 0; i < count; ++i) {
  const context = await browser.newContext();
  for (const which of ['first', 'second']) visits[which].push(await visit(context, server.url));
  await context.close();
}
for (const [which, found] of Object.entries(visits)) {
  const drawing = middle(found.map(({ milliseconds }) => milliseconds)),
    bytes = middle(found.map(({ received }) => received));
  console.log(JSON.stringify({ bench: 'web', case: 'playground', visit: which, count, unit: 'ms', drawing, bytes }));
}
await browser.close();
await server.close();
