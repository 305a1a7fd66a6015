// SPDX-License-Identifier: MIT
// The ESLint rules of the tree: only rules that find errors. Prettier decides the layout.
import js from '@eslint/js';
import globals from 'globals';
import ts from 'typescript-eslint';

const rules = {
  ...js.configs.recommended.rules,
  'array-callback-return': 'error',
  eqeqeq: 'error',
  'no-constructor-return': 'error',
  'no-self-compare': 'error',
  'no-template-curly-in-string': 'error',
  'no-unreachable-loop': 'error',
  'no-unused-vars': ['error', { ignoreRestSiblings: true, varsIgnorePattern: '^__' }],
  'no-var': 'error',
  'prefer-const': ['error', { ignoreReadBeforeAssign: true }],
};

const environment = { ...globals.node, ...globals.browser, ...globals.worker };
// Emscripten's names in the scripts that it includes, and in its test programs.
const emscripten = {
  ENVIRONMENT_IS_NODE: 'readonly',
  FS: 'readonly',
  LibraryManager: 'readonly',
  Module: 'readonly',
  mergeInto: 'readonly',
};

export default [
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: { ...environment, ...emscripten } },
    rules,
  },
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parser: ts.parser },
    // The compiler checks names and variables without a use.
    rules: { ...rules, 'no-undef': 'off', 'no-unused-vars': 'off', 'no-redeclare': 'off' },
  },
];
