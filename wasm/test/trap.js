// SPDX-License-Identifier: MIT
// The package's worker, in which trim() traps: (func (export "f") unreachable).
import { Module } from '../../node_modules/kaiseki/src/module.js';

const code = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  4,
  1,
  96,
  0,
  0,
  3,
  2,
  1,
  0,
  7,
  5,
  1,
  1,
  102,
  0,
  0,
  10,
  5,
  1,
  3,
  0,
  0,
  11,
);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code)),
  { call } = Module.prototype;
Module.prototype.call = function (name, ...args) {
  return name === 'kaiseki_trim' ? exports.f() : call.call(this, name, ...args);
};
await import('../../node_modules/kaiseki/src/worker.js');
