// SPDX-License-Identifier: MIT
export default { printWidth: 120, singleQuote: true, objectWrap: 'collapse' };
