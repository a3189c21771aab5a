import { number } from "../view/format.ts";
import { fieldNamed, withTests } from "../view/query-terms.ts";
import css from "./distribution.module.css";
import { barsOf, POINTS, type Points, place } from "./number-bars.ts";
import { type CountRound, type SearchScope, tableOf, useCounted } from "./use-fields.ts";

/** Numbers that the bars count: the newest. */
const READ = 1000;

interface DistributionProps {
  field: string;
  /** Whether the list of values shows only some of them. */
  isMany: boolean;
  filter: string;
  scope: SearchScope;
  round: CountRound;
  /** Narrows to numbers from here on. */
  onFrom: (bound: number) => void;
}

/** Where the numbers of a field lie: bars if there are many, a strip from the least to the greatest, and percentiles that narrow on a click. */
export function Distribution({ field, isMany, filter, scope, round, onFrom }: DistributionProps) {
  const query = `${filter} | stats ${POINTS.map((name) => `${name}(${field})`).join(", ")}`;
  const { data, failure, isStale } = useCounted(scope, round, query, async (signal) => {
    return pointsOf((await tableOf(scope, query, signal)).rows[0] ?? []);
  });
  // The percentiles hide two peaks.
  const exists = { kind: "field" as const, field: fieldNamed(field), test: { kind: "exists" as const } };
  const counting = isMany ? `${withTests(filter, [exists])} | limit ${READ} | count by ${field}` : "";
  const { data: rows } = useCounted(
    scope,
    round,
    counting,
    async (signal) => (await tableOf(scope, counting, signal)).rows,
  );
  if (failure !== null || data === null) return <div class={css.strip} aria-busy={failure === null} />;
  const at = (value: number): number => place(value, data) * 100;
  return (
    <div class={css.distribution} data-stale={isStale || undefined}>
      {isMany ? <Bars field={field} bars={barsOf(rows ?? [], data)} /> : null}
      <div class={css.strip} aria-hidden="true">
        <span style={{ insetInlineStart: "0%", width: `${at(data.p50)}%` }} data-part="half" />
        <span
          style={{ insetInlineStart: `${at(data.p50)}%`, width: `${at(data.p90) - at(data.p50)}%` }}
          data-part="most"
        />
        <span
          style={{ insetInlineStart: `${at(data.p90)}%`, width: `${at(data.p99) - at(data.p90)}%` }}
          data-part="few"
        />
      </div>
      <ul class={css.points} aria-label={`Distribution of ${field}`}>
        {POINTS.map((name) => (
          <li key={name}>
            <button
              type="button"
              aria-label={`${field} at least ${name}, ${number(data[name])}`}
              onClick={() => onFrom(data[name])}
            >
              <span>{name}</span> {short(data[name])}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Bars({ field, bars }: { field: string; bars: readonly number[] }) {
  const most = Math.max(1, ...bars);
  const all = bars.reduce((sum, count) => sum + count, 0);
  const what = all < READ ? "" : ` of the newest ${number(READ)}`;
  return (
    <div
      class={css.bars}
      role="img"
      aria-label={`Histogram of ${field}${what}`}
      title={all < READ ? undefined : `The newest ${number(READ)}`}
    >
      {bars.map((count, at) => (
        <span key={at} style={{ height: count === 0 ? 0 : `max(1px, ${(count / most) * 100}%)` }} />
      ))}
    </div>
  );
}

function pointsOf(row: readonly unknown[]): Points | null {
  const [min, p50, p90, p99, max] = row;
  const all = { min, p50, p90, p99, max };
  // SAFETY: all members are numbers.
  return Object.values(all).every((value) => typeof value === "number") ? (all as Points) : null;
}

function short(value: number): string {
  return value.toLocaleString(undefined, { notation: "compact", maximumSignificantDigits: 3 });
}
