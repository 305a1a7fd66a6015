// SPDX-License-Identifier: MIT
// Finds the place in a JSON text that an error of the library names: "line 3", or "layers[4].stride".

/** Returns the line's number from 1, or null if the message names no place in the text. */
export function locate(message: string, text: string): number | null {
  const line = /\bline (\d+)/.exec(message);
  if (line) return Math.min(Number(line[1]), text.split('\n').length);
  const path = /\b(layers|layer_params)\[(\d+)\]/.exec(message);
  if (!path) return null;
  const at = element(text, path[1], Number(path[2]));
  return at === null ? null : text.slice(0, at).split('\n').length;
}

/** Returns where element `index` of the list under `key` starts. If the whole text is a list, uses that list. */
function element(text: string, key: string, index: number): number | null {
  const list = /^\s*\[/.exec(text) ?? new RegExp(`"${key}"\\s*:\\s*\\[`).exec(text);
  if (!list) return null;
  let depth = 0,
    left = index,
    begins = true;
  for (let at = list.index + list[0].length; at < text.length; ++at) {
    const character = text[at];
    if (/\s/.test(character)) continue;
    if (depth === 0 && begins && character !== ']') {
      if (left-- === 0) return at;
      begins = false;
    }
    if (character === '"') {
      for (++at; at < text.length && text[at] !== '"'; ++at) if (text[at] === '\\') ++at;
    } else if ('[{'.includes(character)) {
      ++depth;
    } else if (']}'.includes(character)) {
      if (depth-- === 0) return null;
    } else if (character === ',' && depth === 0) {
      begins = true;
    }
  }
  return null;
}
