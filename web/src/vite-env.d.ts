// SPDX-License-Identifier: MIT
/// <reference types="vite/client" />
