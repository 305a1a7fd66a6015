# SPDX-License-Identifier: MIT
"""Makes the page docs/javascript.md from the types of the npm package."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = """# JavaScript

The npm package `kaiseki` trains networks and classic models and computes with arrays, in a page or in Node. This page lists its classes and functions with their types.
[The npm package](../wasm/README.md) has an example. [WebAssembly](wasm.md) tells how the package works.

```js
import { load } from 'kaiseki';
const kaiseki = await load({ threads: 2 });
```

The script `docs/site/reference javascript` makes this page from the `.d.ts` files of `wasm/src/`.
"""
PARTS = [("kaiseki", ["index"], "The library runs in a worker. Every call returns a promise."),
         ("kaiseki/sync", ["sync"], "The library runs where it is called, without promises. Use it in workers of your own."),
         ("kaiseki/learn", ["learn"], "Classic learning, in a small module with one thread. Calls run where they are made."),
         ("kaiseki/arrays", ["arrays_values", "arrays", *sorted(file.name.removesuffix(".d.ts") for file in ROOT.glob("wasm/src/operations_*.d.ts"))],
          "All operations on arrays and linear algebra, with the names of C++, in a module with one thread. Calls run where they are made."),
         ("Shared types", ["common"], "The entries use these types.")]
EXPORT = re.compile(r"^export (?:declare )?(?:abstract )?(class|interface|type|function|const) (\w+)")


def declarations(text):
    """Yields (kind, name, lines) of each exported declaration, with the comment above it."""
    comment, found, depth = [], None, 0
    for line in text.splitlines():
        start = EXPORT.match(line)
        if found is None and start:
            found, depth = (start[1], start[2], comment), 0
            comment = []
        if found:
            found[2].append(line)
            depth += line.count("{") + line.count("(") - line.count("}") - line.count(")")
            if depth == 0 and line.rstrip().endswith((";", "}")):
                yield found
                found = None
        elif line.startswith(("/**", " *")):
            comment = [line] if line.startswith("/**") else comment + [line]
        elif line.strip():
            comment = []


def page():
    lines = [HEAD]
    for title, files, what in PARTS:
        lines += [f"## {title}", "", what, ""]
        for file in files:
            for _, declared, text in declarations((ROOT / f"wasm/src/{file}.d.ts").read_text()):
                lines += [f"### {declared}", "", "```ts", *text, "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"
