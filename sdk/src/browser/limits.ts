// Without an import, so that bundlers put the numbers where they are used.

/** Bytes of one request, and of all that a document has under way: browsers let 64 KiB outlive it. */
export const MAX_BYTES = 60_000;
/** Bytes of one entry: it has to fit into a request that outlives the page. */
export const MAX_ENTRY = 50_000;
/** Documents besides the page's own, each with as much again: together they take 240,000 bytes. */
export const MAX_FRAMES = 3;
/** Levels of nesting, and characters of one text, that an entry keeps. */
export const MAX_DEPTH = 32;
export const MAX_TEXT = 16_384;
/** Milliseconds after which the service no longer recognizes a repetition, 23 hours: one less than it promises. */
export const REPEATABLE_MS = 82_800_000;
/** Milliseconds until what one tab removed from the store is gone for all: locks are faster than stores. */
export const SETTLING_MS = 300;
/** Milliseconds by which a timer may be early. */
export const EARLY_MS = 20;
export const FLUSH_MS = 10_000;
