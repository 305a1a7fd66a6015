#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks all JavaScript and TypeScript with ESLint and Prettier. With --fix it formats the files instead: run.sh [--fix]
# The npm packages are installed in build/lint. They are installed again if package-lock.json changes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
lint=build/lint
mkdir -p $lint
cp tests/structure/lint/{package.json,eslint.config.js,prettier.config.js} $lint
if ! cmp -s tests/structure/lint/package-lock.json $lint/installed.json; then
  cp tests/structure/lint/package-lock.json $lint
  npm ci --prefix $lint --silent --no-audit --no-fund --ignore-scripts
  cp tests/structure/lint/package-lock.json $lint/installed.json
fi

mapfile -t files < <(git ls-files '*.js' '*.mjs' '*.ts' '*.tsx')
layout=--check
[ "${1:-}" != --fix ] || layout=--write
prettier() { "$lint/node_modules/.bin/prettier" --config $lint/prettier.config.js --log-level warn \
  --cache --cache-strategy content --cache-location $lint/prettier.cache "$@"; }
eslint() { "$lint/node_modules/.bin/eslint" --config $lint/eslint.config.js --max-warnings 0 \
  --cache --cache-strategy content --cache-location $lint/eslint.cache "$@"; }
prettier $layout "${files[@]}"
eslint "${files[@]}"
echo "lint: ${#files[@]} files, no problem found"
