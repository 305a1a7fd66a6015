// SPDX-License-Identifier: MIT
// A script of an empty project in which only the package is installed.
import { load } from 'kaiseki';

const kaiseki = await load({ threads: 2 });
const a = await kaiseki.tensor([1, 2, 3, 4], [2, 2]);
console.log(kaiseki.threads, ...(await (await a.matmul(a)).toTypedArray()));
