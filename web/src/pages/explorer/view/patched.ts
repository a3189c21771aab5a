import type { FilterPatch } from "../filters.ts";
import { testsOf } from "./filter-tests.ts";
import { narrowedTo } from "./query-terms.ts";
import type { Range } from "./range.ts";
import { type View, withQuery } from "./view.ts";

/** Narrows a view to what a click chose. A value replaces other values of its field. */
export function patched(view: View, { from, to, ...patch }: FilterPatch): View {
  const before = view.range.kind === "between" ? view.range : { from: null, to: null };
  const range: Range =
    from === undefined && to === undefined
      ? view.range
      : { kind: "between", from: from ?? before.from, to: to ?? before.to };
  return { ...withQuery(view, narrowedTo(view.query ?? "", testsOf(patch))), range };
}
