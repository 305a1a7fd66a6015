// SPDX-License-Identifier: MIT
// Replaces Node's module fs in pages. Sylvester imports it when it loads.
export default {};
