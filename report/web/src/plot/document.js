// SPDX-License-Identifier: MIT
// The document where there is no page: cli/drawing sets it before the program runs.
export const doc = globalThis.collwireDocument;
