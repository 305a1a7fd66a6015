// SPDX-License-Identifier: MIT
// In pages, for the module fs of Node, which Sylvester asks for when it is loaded.
export default {};
