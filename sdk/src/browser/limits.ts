// Has no imports, so that bundlers inline the numbers.

/** Bytes of one request, and of all requests in flight of a document. Browsers let 64 KiB outlive the document. */
export const MAX_BYTES = 60_000;
/** Bytes of one entry, so that it fits into a request that outlives the page. */
export const MAX_ENTRY = 50_000;
/** Number of additional documents (iframes) for requests in flight. With the page they have 240,000 bytes. */
export const MAX_FRAMES = 3;
/** Nesting levels of an entry, and characters of one text. */
export const MAX_DEPTH = 32;
export const MAX_TEXT = 16_384;
/** Age in milliseconds up to which a batch is sent again, 23 hours. The service recognizes repetitions for 24 hours. */
export const REPEATABLE_MS = 82_800_000;
/** Milliseconds until all tabs see what one tab removed from the store. Locks are released faster. */
export const SETTLING_MS = 300;
/** Milliseconds by which a timer may fire early. */
export const EARLY_MS = 20;
export const FLUSH_MS = 10_000;
