// SPDX-License-Identifier: MIT
// Frames of docs/protocol.md, for pages and for Node. The C++ side is dist/wire/frame.h, and both pass the same
// vectors.

/** The close code for an expelled node. The node must not reconnect. Defined in dist/wire/frame.h too. */
export const expelledCode = 4001;

export const frameHeaderBytes = 32;
const magic = 0x5349414b; // "KAIS", little-endian
const version = 1;
const maxControlBytes = 65536;
const maxPayloadHigh = 0x1fffff; // so that the value is at most 2^53 - 1
const types = [
  'hello',
  'welcome',
  'ready',
  'ticket',
  'result',
  'verdict',
  'give_back',
  'drain',
  'echo',
  'error',
  'cancel',
];
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export class FrameError extends Error {
  constructor(message) {
    super(`frame: ${message}`);
    this.name = 'FrameError';
  }
}

function expect(condition, byte, expected, got) {
  if (!condition) throw new FrameError(`byte ${byte}: expected ${expected}, got ${got}`);
}

function load64(view, at, what) {
  const high = view.getUint32(at + 4, true);
  expect(high <= maxPayloadHigh, at, `${what} below 2^53`, 'more');
  return high * 2 ** 32 + view.getUint32(at, true);
}

function store64(view, at, value) {
  view.setUint32(at, value % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}

/**
 * Rejects duplicate keys, because JSON.parse takes the last one and the C++ side refuses them. `text` is well-formed.
 */
function expectUniqueKeys(text) {
  const open = []; // the keys so far of each open object, undefined for an open list
  let key = false; // whether the next string is a key
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    const keys = open.at(-1);
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ',' && key) {
      const name = JSON.parse(token);
      if (keys.has(name)) throw new Error(`duplicate key ${token}`);
      keys.add(name);
    }
    key = token === '{' || (token === ',' && keys !== undefined);
  }
}

function parseControl(bytes) {
  if (bytes.length === 0) return {};
  let value;
  try {
    const text = decoder.decode(bytes);
    value = JSON.parse(text);
    expectUniqueKeys(text);
  } catch (error) {
    throw new FrameError(`byte ${frameHeaderBytes}: ${error.message}`);
  }
  expect(value !== null && typeof value === 'object' && !Array.isArray(value), frameHeaderBytes, 'an object', value);
  return value;
}

/**
 * Reads one frame. Throws FrameError unless the bytes are exactly one frame. The payload is a view of `message`.
 * Ticket 0 means no ticket.
 */
export function decodeFrame(message) {
  expect(message.length >= frameHeaderBytes, 0, 'a header of 32 bytes', message.length);
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  expect(view.getUint32(0, true) === magic, 0, '"KAIS"', 'another');
  expect(view.getUint8(4) === version, 4, 'version 1', view.getUint8(4));
  const type = view.getUint8(5);
  expect(type >= 1 && type <= types.length, 5, `a type from 1 to ${types.length}`, type);
  expect(view.getUint16(6, true) === 0, 6, 'no flags', view.getUint16(6, true));
  const ticket = load64(view, 8, 'a ticket');
  const payloadBytes = load64(view, 16, 'a payload');
  const controlBytes = view.getUint32(24, true);
  expect(controlBytes <= maxControlBytes, 24, 'a control part of at most 65536 bytes', controlBytes);
  expect(view.getUint32(28, true) === 0, 28, 'zero', view.getUint32(28, true));
  const bytes = frameHeaderBytes + controlBytes + payloadBytes;
  expect(message.length === bytes, frameHeaderBytes, `a message of ${bytes} bytes`, message.length);
  const payloadAt = frameHeaderBytes + controlBytes;
  const control = parseControl(message.subarray(frameHeaderBytes, payloadAt));
  return { type: types[type - 1], ticket, control, payload: message.subarray(payloadAt) };
}

export function encodeFrame({ type, ticket = 0, control = {}, payload = new Uint8Array() }) {
  const code = types.indexOf(type) + 1;
  if (code === 0) throw new FrameError(`expected a frame type, got ${type}`);
  const text = Object.keys(control).length === 0 ? new Uint8Array() : encoder.encode(JSON.stringify(control));
  if (text.length > maxControlBytes)
    throw new FrameError(`expected a control part of at most 65536 bytes, got ${text.length}`);
  const message = new Uint8Array(frameHeaderBytes + text.length + payload.length);
  const view = new DataView(message.buffer);
  view.setUint32(0, magic, true);
  view.setUint8(4, version);
  view.setUint8(5, code);
  store64(view, 8, ticket);
  store64(view, 16, payload.length);
  view.setUint32(24, text.length, true);
  message.set(text, frameHeaderBytes);
  message.set(payload, frameHeaderBytes + text.length);
  return message;
}
