// SPDX-License-Identifier: MIT
// The environment that the package runs in.

export const node = Boolean(globalThis.process?.versions?.node);

/** Imports a module of Node, by a name that bundlers do not resolve. */
export function builtin(name) {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`);
}

export async function cores() {
  return node ? (await builtin('os')).availableParallelism() : (navigator.hardwareConcurrency ?? 1);
}
