// SPDX-License-Identifier: MIT
// Writes wasm/src/operations_*.d.ts, the types of the operations of kaiseki/arrays, from the table in the built module:
// node wasm/operation_types.js [--check] BUILD_FOLDER/package. With --check it fails if a stored file differs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const WIDTH = 120;
const SHARED = ['DType', 'Integers', 'Random'];
const check = process.argv[2] === '--check';
const folder = process.argv[check ? 3 : 2];
const { load } = await import(pathToFileURL(resolve(folder, 'src/arrays.js')).href);
const { operations } = await load();

const typeOf = (type) => (type === "'f32' | 'i32' | 'u8' | 'bool' | 'f64'" ? 'DType' : type);

function resultOf(type) {
  if (typeof type === 'string') return type;
  return `{ ${Object.entries(type)
    .map(([name, member]) => `${name}: ${resultOf(member)}`)
    .join('; ')} }`;
}

const isObject = (type) => type.startsWith('{ ');
const membersOf = (type, indent) =>
  type
    .slice(2, -2)
    .split('; ')
    .map((member) => `${indent}${member};`);

/** One signature. If it is too long for a line, it is broken as Prettier breaks it. */
function signature(name, parameters, result) {
  const line = `  ${name}(${parameters.map(([key, type]) => `${key}: ${type}`).join(', ')}): ${result};`;
  if (line.length <= WIDTH) return [line];
  const [[key, type]] = parameters;
  if (parameters.length === 1 && isObject(type)) {
    const head = `  ${name}(${key}: ${type}): {`;
    if (isObject(result) && head.length <= WIDTH) return [head, ...membersOf(result, '    '), '  };'];
    return [`  ${name}(${key}: {`, ...membersOf(type, '    '), `  }): ${result};`];
  }
  const lines = parameters.flatMap(([key, type]) => {
    const one = `    ${key}: ${type},`;
    return one.length <= WIDTH || !isObject(type) ? [one] : [`    ${key}: {`, ...membersOf(type, '      '), '    },'];
  });
  return [`  ${name}(`, ...lines, `  ): ${result};`];
}

function comment(about, parameters) {
  const defaults = parameters
    .filter((parameter) => 'fallback' in parameter)
    .map(({ name, fallback }) => `${name} = ${JSON.stringify(fallback).replaceAll(',', ', ')}`);
  const text = defaults.length ? `${about} Default: ${defaults.join(', ')}.` : about;
  if (text.length + 9 <= WIDTH) return [`  /** ${text} */`];
  const lines = [''];
  for (const word of text.split(' '))
    if (lines.at(-1).length + word.length + 6 > WIDTH) lines.push(word);
    else lines[lines.length - 1] += lines.at(-1) ? ` ${word}` : word;
  return ['  /**', ...lines.map((line) => `   * ${line}`), '   */'];
}

function member({ name, about, parameters, result, method }) {
  const own = parameters.slice(method),
    first = own.findIndex((parameter) => 'fallback' in parameter);
  const types = own.map((parameter) => [parameter.name + ('fallback' in parameter ? '?' : ''), typeOf(parameter.type)]);
  const lines = [...comment(about, own), ...signature(name, types, resultOf(result))];
  if (first < 0) return lines;
  const record = types.slice(first).map(([key, type]) => `${key}: ${type}`);
  const named = [...types.slice(0, first), ['named', `{ ${record.join('; ')} }`]];
  return [...lines, ...signature(name, named, resultOf(result))];
}

let status = 0;
for (const group of new Set(operations.map((operation) => operation.group))) {
  const capital = group[0].toUpperCase() + group.slice(1);
  const body = [];
  for (const [method, kind] of [
    [true, 'Methods'],
    [false, 'Functions'],
  ]) {
    const members = operations.filter((operation) => operation.group === group && operation.method === method);
    const lines = members.flatMap(member);
    // A parameter instead of an import, because the file of Tensor imports this one.
    const parameter = /\bTensor\b/.test(lines.join('\n')) ? '<Tensor>' : '';
    if (lines.length) body.push('', `export interface ${capital}${kind}${parameter} {`, ...lines, '}');
  }
  const used = SHARED.filter((name) => new RegExp(`\\b${name}\\b`).test(body.join('\n')));
  const text = [
    '// SPDX-License-Identifier: MIT',
    `// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/${group}.cc.`,
    ...(used.length ? [`import type { ${used.join(', ')} } from './arrays_values.js';`] : []),
    ...body,
    '',
  ].join('\n');
  const file = new URL(`src/operations_${group}.d.ts`, import.meta.url);
  if (!check) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${file.pathname} is not up to date: run node wasm/operation_types.js BUILD_FOLDER/package`);
    status = 1;
  }
}
process.exitCode = status;
