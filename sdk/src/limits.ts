// Has no imports, so that bundlers inline the numbers.

/** Entries and bytes of one request. These are the limits of the service. */
export const MAX_ENTRIES = 1000;
export const MAX_BODY_BYTES = 5_242_880;
export const HOUR_MS = 3_600_000;
/** Default deadline of `flush` and `close`. */
export const FLUSH_MS = 10_000;

/**
 * Bytes after which an entry is truncated, 252 KiB. The service accepts 256 KiB: the rest is for a last name, for
 * closing brackets, and for the `[Truncated]` marks of 32 levels.
 */
export const MAX_BYTES = 258_048;
/** Bytes of the buffer for encoding one entry: `MAX_BYTES`, one more member, and a margin. */
export const SCRATCH_BYTES = 270_336;
/** Objects, lists and scalars of `data` after which an entry is truncated. The service accepts 20,000 per entry. */
export const MAX_VALUES = 19_500;
/** Nesting levels of `data` (`{}` is 1). */
export const MAX_DEPTH = 32;
/** Characters after which a member name is truncated. */
export const MAX_NAME = 256;
/** Member names whose JSON is cached. A full cache is cleared. */
export const MAX_NAMES = 1000;
/** Characters from which an API key is masked in texts. A shorter key could mask ordinary words. */
export const MIN_KEY = 6;
/** Depth of log calls in getters of logged objects. Entries of deeper calls are truncated. */
export const MAX_NESTED = 4;

/** Characters of a category or type, and of a session or trace id. These are the limits of the service. */
export const MAX_PLACE = 64;
export const MAX_ID = 256;
/** Bytes of JSON that `defaultMeta`, children and contexts may add to an entry. */
export const MAX_MEMBERS = 65_536;

/** Bytes of a body from which compression saves more than it costs. */
export const GZIP_FROM = 1024;
/** Bytes of a chunk of queued lines. A longer line has its own chunk. */
export const CHUNK_BYTES = 65_536;
/** Number of newest entries that the transport `memory` stores. */
export const MEMORY_ENTRIES = 1000;

/** Character codes of JSON. */
export const QUOTE = 34;
export const COMMA = 44;
export const OPEN = 123;
export const CLOSE = 125;
/** Characters of `2026-11-20T14:04:05.678Z`. */
export const TIME_LENGTH = 24;
