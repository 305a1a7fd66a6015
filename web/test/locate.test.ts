// SPDX-License-Identifier: MIT
import { expect, test } from 'vitest';
import { locate } from '../src/logic/locate';

const OURS = `{
  "name": "a [layers] {",
  "layers": [
    {"type": "relu", "note": "\\"]}"},
    {"type": "convolution",
     "kernel": [3, 3]},
    {"type": "softmax"}
  ]
}`;

test.each([
  ['network: line 5: expected a value', 5],
  ['network: line 99: expected a value', 9],
  ['network: layers[0]: layer relu1: expected', 4],
  ['network: layers[1].strid: layer conv: expected', 5],
  ['network: layers[2].type: expected', 7],
  ['network: layers[3].type: expected', null],
  ['network: layer_params[0].type: expected', null],
  ['network: expected an object', null],
])('%s', (message, line) => expect(locate(message, OURS)).toBe(line));

test("finds a place in Sukiyaki's list format", () => {
  expect(locate('network: layer_params[1].params: expected', '[{"type": "conv"},\n {"type": "act"}]')).toBe(2);
});
