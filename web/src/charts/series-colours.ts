/**
 * Which series has which of the colours.
 *
 * A reader learns a colour as a name: `checkout` is blue. If the colour were the place in one answer, every refresh, range or filter that
 * changes the order of the counts would rename the series, and two panels of a board would disagree. So the colour comes from the name,
 * and counts are not asked. Three rules, in this order:
 *
 * 1. A name that is shown on this page keeps its colour, so that a series that comes or goes recolours no other.
 * 2. A new name has the colour of its hash: the same after a reload, in another tab, and for another reader.
 * 3. With six colours, two names of one chart often share a hash. They must differ, so the later name in the order of letters has the
 *    next free colour, and keeps it by rule 1.
 *
 * More than six names in the charts of a page share colours. Where two of these meet in one chart, the one that the page showed later
 * has a free colour in that chart only.
 */

/** Colours of series, `--series-1` to `--series-6`. */
export const COLOURS = 6;

/** What is drawn without a colour of its own. */
export const NEUTRAL = COLOURS;

/** Names that are kept: those of more charts than a page shows in a day, as a chart draws seven of its names. */
const MAX_KEPT = 1000;

/** Colours by name, the name first shown first. */
export type KnownColours = Map<string, number>;

/** The names that this page has shown: all its charts, until it is closed. */
export const PAGE_COLOURS: KnownColours = new Map();

/** Returns a colour for each of different names, from 0; `NEUTRAL` where all are taken. Adds new names to those that are known. */
export function coloursOf(names: readonly string[], known: KnownColours): ReadonlyMap<string, number> {
  const chosen = new Map<string, number>();
  const taken = new Set<number>();
  const take = (name: string, colour: number): boolean => {
    if (taken.has(colour)) return false;
    chosen.set(name, colour);
    taken.add(colour);
    return true;
  };
  const wanted = new Set(names);
  const old = wanted.size === 0 ? [] : [...known].filter(([name]) => wanted.has(name));
  const fresh = [...wanted].filter((name) => !known.has(name)).sort();
  const displaced = old.filter(([name, colour]) => !take(name, colour)).map(([name]) => name);
  const collided = fresh.filter((name) => !take(name, preferred(name)));
  for (const name of [...displaced, ...collided]) {
    const first = known.get(name) ?? preferred(name);
    const free = Array.from({ length: COLOURS }, (_, step) => (first + step) % COLOURS).find(
      (each) => !taken.has(each),
    );
    if (free === undefined) chosen.set(name, NEUTRAL);
    else take(name, free);
  }
  for (const name of fresh) {
    const colour = chosen.get(name) ?? NEUTRAL;
    if (colour !== NEUTRAL) known.set(name, colour);
  }
  for (const name of known.keys()) {
    if (known.size <= MAX_KEPT) break;
    known.delete(name);
  }
  return chosen;
}

/** The colour of a name where no other is shown: FNV-1a, then the finalizer of MurmurHash3, without which similar names fall together. */
function preferred(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % COLOURS;
}
