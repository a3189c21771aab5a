import { LEVELS } from "../../entry.ts";
import type { WorkMeter } from "../../query/budget.ts";
import { ALL_LEVELS_MASK, type LogFilter, OPEN_FILTER } from "../../query/filter.ts";
import { FIRST_MEMBER_COLUMN, TEXT_MEMBERS } from "../columns.ts";
import { comparisonsIn, type LanguageTest, languageTestOf } from "./language-test.ts";
import { ContainingStrings } from "./page-scan.ts";
import type { PathTest } from "./path-test.ts";
import { RestLines } from "./rest-lines.ts";
import { ShapeCache } from "./shapes.ts";
import { TextFinder } from "./text-finder.ts";
import { TextTest } from "./text-test.ts";
import { type ValueTest, valueTestOf } from "./value-test.ts";

/** A test of `data`, and how it is made of values in `rest`. */
export interface DataTest extends ValueTest {
  /** Index of its path in the cache of shapes. */
  pathIndex: number;
  rest: RestLines;
}

/** A filter prepared for many row groups. */
export class PreparedFilter {
  readonly from: number | null;
  readonly to: number | null;
  /** Tests of members by column; `null`: no string of the column holds. */
  readonly members: readonly { column: number; test: TextTest | null }[];
  readonly data: readonly DataTest[];
  readonly search: { finder: TextFinder; strings: ContainingStrings; rest: RestLines } | null;
  /** The rest of a filter of the query language. */
  readonly language: LanguageTest | null;
  /** Its tests that compare members of `data` with numbers. */
  readonly comparisons: readonly PathTest[];
  readonly shapes: ShapeCache;
  /** Tests lines that are whole in `rest`. */
  readonly lines: RestLines;
  readonly meter: WorkMeter;

  constructor(filter: LogFilter, meter: WorkMeter) {
    const { from, to, levelMask, categories, types, session, traceId, search, data, rest } = filter;
    this.meter = meter;
    this.from = from;
    this.to = to;
    const levels = levelMask === ALL_LEVELS_MASK ? null : LEVELS.filter((_, level) => ((1 << level) & levelMask) !== 0);
    const wanted: Partial<Record<(typeof TEXT_MEMBERS)[number], readonly string[] | null>> = {
      level: levels,
      category: categories,
      type: types,
      session: only(session),
      traceId: only(traceId),
    };
    this.members = TEXT_MEMBERS.flatMap((name, index) => {
      const texts = wanted[name] ?? null;
      return texts === null ? [] : [{ column: FIRST_MEMBER_COLUMN + index, test: TextTest.listed(texts) }];
    });
    this.data = data.map((condition, pathIndex) => ({
      ...valueTestOf(condition),
      pathIndex,
      rest: new RestLines({ ...OPEN_FILTER, data: [condition] }, meter),
    }));
    const finder = search === null ? null : new TextFinder(search);
    this.search = finder && {
      finder,
      strings: new ContainingStrings(finder),
      rest: new RestLines({ ...OPEN_FILTER, search }, meter),
    };
    this.shapes = new ShapeCache(data.map(({ path }) => path));
    this.lines = new RestLines(filter, meter);
    this.language = rest && languageTestOf(rest.filter, meter, rest.compared);
    this.comparisons = this.language === null ? [] : comparisonsIn(this.language);
  }

  /** Whether only time and commit are tested. */
  get isOpen(): boolean {
    return this.members.length === 0 && this.data.length === 0 && this.search === null && this.language === null;
  }

  /** Returns the filter as prepared before for the same request. */
  static of(filter: LogFilter, meter: WorkMeter): PreparedFilter {
    const known = prepared.get(filter);
    if (known?.meter === meter) return known;
    const made = new PreparedFilter(filter, meter);
    prepared.set(filter, made);
    return made;
  }
}

const prepared = new WeakMap<LogFilter, PreparedFilter>();

function only(text: string | null): string[] | null {
  return text === null ? null : [text];
}
