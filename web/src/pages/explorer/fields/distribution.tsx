import { number } from "../view/format.ts";
import css from "./fields.module.css";
import { type SearchScope, tableOf, useCounted } from "./use-fields.ts";

/** What is asked of a number, in order of size. */
const POINTS = ["min", "p50", "p90", "p99", "max"] as const;
type Points = Record<(typeof POINTS)[number], number>;

interface DistributionProps {
  field: string;
  filter: string;
  scope: SearchScope;
  /** A new key counts again; `null` waits. */
  round: string | null;
  /** Narrows to numbers from here on. */
  onFrom: (bound: number) => void;
}

/** Where the numbers of a field lie: a strip from the least to the greatest, and percentiles that narrow on a click. */
export function Distribution({ field, filter, scope, round, onFrom }: DistributionProps) {
  const query = `${filter} | stats ${POINTS.map((name) => `${name}(${field})`).join(", ")}`;
  const { data, failure } = useCounted(round, query, async (signal) => {
    return pointsOf((await tableOf(scope, query, signal)).rows[0] ?? []);
  });
  if (failure !== null || data === null) return <div class={css.strip} aria-busy={failure === null} />;
  const at = (value: number): number => place(value, data) * 100;
  return (
    <div class={css.distribution}>
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

function pointsOf(row: readonly unknown[]): Points | null {
  const [min, p50, p90, p99, max] = row;
  const all = { min, p50, p90, p99, max };
  // SAFETY: all members are numbers.
  return Object.values(all).every((value) => typeof value === "number") ? (all as Points) : null;
}

/** Place of a number between the ends, 0 to 1. By orders of magnitude if the greatest is far from the middle. */
function place(value: number, { min, p50, max }: Points): number {
  if (max <= min) return 1;
  const isWide = min >= 0 && max > 20 * Math.max(p50, 1e-9);
  const scale = isWide ? Math.log1p : (each: number): number => each;
  return (scale(value) - scale(min)) / (scale(max) - scale(min));
}

function short(value: number): string {
  return value.toLocaleString(undefined, { notation: "compact", maximumSignificantDigits: 3 });
}
