// SPDX-License-Identifier: MIT
// The memory that a WebAssembly module can take: the maxima of its memories and tables. An engine enforces them.

const pageBytes = 65536;
const entryBytes = 16; // of a table
const sections = { types: 1, tables: 4, memories: 5 };
const functionType = 0x60;
const isReference = (type) => type === 0x70 || type === 0x6f; // a function, or an object of the host
const typedReferences = [0x63, 0x64];
const noTyped = 'expected a WebAssembly module without typed references';
const hasMaximum = 1;

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  byte() {
    return this.bytes[this.at++];
  }
  number() {
    let value = 0;
    for (let scale = 1, byte = 0x80; byte & 0x80; scale *= 128) {
      byte = this.byte();
      value += scale * (byte & 0x7f);
    }
    return value;
  }
  /** Returns the maximum. */
  limits(what, advice) {
    const flags = this.byte();
    this.number();
    if (!(flags & hasMaximum)) throw new Error(`expected a WebAssembly module whose ${what} has a maximum; ${advice}`);
    return this.number();
  }
}

/** The collector's objects, which types of structs and arrays declare, have no maximum. */
function checkTypes(reader) {
  for (let left = reader.number(); left > 0; --left) {
    const isFunction = reader.byte() === functionType;
    for (let list = 0; isFunction && list < 2; ++list)
      for (let types = reader.number(); types > 0; --types)
        if (typedReferences.includes(reader.byte())) throw new Error(noTyped);
    if (!isFunction) throw new Error('expected a WebAssembly module with types of functions only');
  }
}

function tableBytes(reader) {
  let sum = 0;
  for (let left = reader.number(); left > 0; --left) {
    if (!isReference(reader.byte())) throw new Error(noTyped);
    sum += entryBytes * reader.limits('table', 'link without --growable-table');
  }
  return sum;
}

function memoryBytes(reader) {
  let sum = 0;
  for (let left = reader.number(); left > 0; --left)
    sum += pageBytes * reader.limits('memory', 'link it with -Wl,--max-memory=BYTES');
  return sum;
}

/** `code` is a valid module. Throws if it could take more than `most` bytes. */
export function checkMemory(code, most) {
  const reader = new Reader(code);
  let sum = 0;
  for (reader.at = 8; reader.at < code.length;) {
    const section = reader.byte(),
      end = reader.number() + reader.at;
    if (section === sections.types) checkTypes(reader);
    if (section === sections.tables) sum += tableBytes(reader);
    if (section === sections.memories) sum += memoryBytes(reader);
    reader.at = end;
  }
  if (sum > most)
    throw new Error(
      `expected a WebAssembly module whose memory has a maximum of at most ${most} bytes (memory_bytes of the task), ` +
        `got ${sum}`,
    );
}
