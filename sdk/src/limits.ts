// Without an import, so that bundlers put the numbers where they are used.

/** The service's limits of one request. */
export const MAX_ENTRIES = 1000;
export const MAX_BODY_BYTES = 5_242_880;
/** Milliseconds. */
export const HOUR_MS = 3_600_000;
export const FLUSH_MS = 10_000;

/**
 * Bytes of one entry from which on it is cut, 252 KiB. The service takes 4 KiB more: room for a last name, for closing
 * brackets, and for the marks that say what was cut, 32 levels of them.
 */
export const MAX_BYTES = 258_048;
/** Bytes for one entry while it is made: a member more than `MAX_BYTES`, and some room. */
export const SCRATCH_BYTES = 270_336;
/** Objects, lists and scalars of one entry's `data` from which on it is cut. The service takes 20,000 an entry. */
export const MAX_VALUES = 19_500;
/** Levels of nesting of `data` (`{}` is 1). */
export const MAX_DEPTH = 32;
/** Characters of a member name; longer ones are cut. */
export const MAX_NAME = 256;
/** Member names remembered with their JSON; past that the memory starts anew. */
export const MAX_NAMES = 1000;
/** A shorter key would mask ordinary words. */
export const MIN_KEY = 6;
/** Calls inside calls, of getters that log. Of deeper ones nothing is asked. */
export const MAX_NESTED = 4;

/** Characters of a category or type, as the service takes them, and of a session or trace id. */
export const MAX_PLACE = 64;
export const MAX_ID = 256;
/** Bytes of JSON that `defaultMeta`, children and contexts may add to an entry. */
export const MAX_MEMBERS = 65_536;

/** Bytes from which compression saves more than it costs. */
export const GZIP_FROM = 1024;
/** Bytes of a chunk of lines that wait; larger entries get one of their own. */
export const CHUNK_BYTES = 65_536;
/** Entries that the transport `memory` keeps, the newest. */
export const MEMORY_ENTRIES = 1000;

/** Characters of JSON. */
export const QUOTE = 34;
export const COMMA = 44;
export const OPEN = 123;
export const CLOSE = 125;
/** Characters of `2026-11-20T14:04:05.678Z`. */
export const TIME_LENGTH = 24;
