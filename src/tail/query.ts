import { z } from "zod";
import type { ErrorDetail } from "../http/errors.ts";
import { integerParameter } from "../http/paging.ts";
import { detailOf } from "../http/resource.ts";
import { Filters, ownFilter, toFilter } from "../logs/query/schema.ts";
import { FilterText } from "../logs/search/query-text.ts";
import { withoutDurations } from "../logs/search/rest-filter.ts";
import { printFilter } from "../query-language/print.ts";
import { joined } from "../query-language/syntax.ts";
import { tailFilterText } from "./filter.ts";
import { TAIL_LIMITS } from "./limits.ts";

/** Every filter of a query but those that a tail does not accept. */
const simple = Filters.omit({ from: true, to: true, data: true }).shape;

/** Query parameters of a tail. `level`, `category`, `type`, `service` and `host` may be repeated. */
export const TailParameters = z.strictObject({
  ...simple,
  q: FilterText.optional(),
  since: integerParameter(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe("Start after this `seq`; 0 starts at the oldest retained entry. Without it, only new entries are sent."),
  ticket: z.string().optional().describe("Replaces the Authorization header, which browsers cannot send here."),
});

const REPEATABLE: ReadonlySet<string> = new Set(["level", "category", "type", "service", "host"]);

export interface TailQuery {
  /** As written by `tailFilterText`. */
  filter: string;
  since: number | null;
}

export type TailQueryResult = { ok: true; query: TailQuery } | { ok: false; details: ErrorDetail[] };

export function readTailQuery(params: URLSearchParams): TailQueryResult {
  const details: ErrorDetail[] = [];
  const values: Record<string, string | string[]> = {};
  for (const name of new Set(params.keys())) {
    const given = params.getAll(name);
    const path = `query.${name}`;
    // Checked by name, because an assignment to `values.__proto__` would add no member.
    if (!Object.hasOwn(TailParameters.shape, name)) {
      details.push({ path, code: "unrecognized_key", message: "Unknown parameter." });
    } else if (given.length > 1 && !REPEATABLE.has(name)) {
      details.push({ path, code: "custom", message: "Must be given once." });
    } else values[name] = given.length === 1 ? (given[0] ?? "") : given;
  }
  const parsed = TailParameters.safeParse(values);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      details.push(detailOf(issue, ["query", ...issue.path.map(String)].join(".")));
    }
  }
  if (!parsed.success || details.length > 0) return { ok: false, details };
  const { since, ticket: _ticket, q, ...filters } = parsed.data;
  const { from: _from, to: _to, data: _data, rest: _rest, ...wanted } = toFilter(filters);
  const parts = [ownFilter(filters), q?.query.filter ?? null].filter((each) => each !== null && each.kind !== "all");
  // Durations count from the opening of the tail.
  const rest = parts.length === 0 ? null : printFilter(withoutDurations(joined("and", parts), Date.now()));
  const filter = tailFilterText({ ...wanted, rest });
  if (Buffer.byteLength(filter) > TAIL_LIMITS.filterBytes) {
    const message = `The filters are too long: at most ${TAIL_LIMITS.filterBytes} bytes together.`;
    return { ok: false, details: [{ path: "query", code: "too_big", message }] };
  }
  return { ok: true, query: { filter, since: since ?? null } };
}
