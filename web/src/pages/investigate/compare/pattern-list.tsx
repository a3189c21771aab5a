import { number } from "../../explorer/view/format.ts";
import { patternTest, withTest } from "../added-test.ts";
import { toolLink } from "../links.ts";
import { ChangeBadge } from "../patterns/change-badge.tsx";
import { PatternText } from "../patterns/pattern-text.tsx";
import { percent } from "../percent.ts";
import type { Investigation } from "../use-investigation.ts";
import css from "./compare.module.css";
import type { PatternDifference } from "./pattern-differences.ts";
import { spanView, type TimeSpan } from "./spans-of-time.ts";

/** Patterns that are listed. */
const SHOWN = 20;

interface PatternListProps {
  investigation: Investigation;
  before: TimeSpan;
  now: TimeSpan;
  patterns: readonly PatternDifference[];
  /** All entries of the spans. */
  totals: { before: number; now: number };
}

/** Part by which all entries must change so that the list says it. */
const NOTABLE = 0.1;

/** Patterns that are new, gone, more or less frequent. */
export function PatternList({ investigation, before, now, patterns, totals }: PatternListProps) {
  const { workspaceId, projectId, filter } = investigation;
  if (patterns.length === 0) return <p class={css.none}>All differences are small enough to be chance.</p>;
  const link = ({ pattern, change }: PatternDifference) => {
    const span = change === "gone" || change === "fallen" ? before : now;
    return toolLink(workspaceId, projectId, null, spanView(withTest(filter, patternTest(pattern)), span));
  };
  const change = (totals.now / (now.end - now.start)) * ((before.end - before.start) / totals.before) - 1;
  return (
    <>
      <p class={css.hint}>
        The largest change relative to all entries first
        {Math.abs(change) < NOTABLE || !Number.isFinite(change)
          ? "."
          : `. In the same time all entries ${change < 0 ? "fell" : "rose"} by ${percent(Math.abs(change))}.`}
      </p>
      <table class={`${css.table} ${css.patterns}`}>
        <thead>
          <tr>
            <th scope="col">Change</th>
            <th scope="col">Pattern</th>
            <th scope="col" data-number="true">
              Before
            </th>
            <th scope="col" data-number="true">
              Now
            </th>
          </tr>
        </thead>
        <tbody>
          {patterns.slice(0, SHOWN).map((each) => (
            <tr key={each.pattern}>
              <td>
                <ChangeBadge change={each.change} />
              </td>
              <td>
                <a class={css.pattern} href={link(each)} title="Show entries">
                  <PatternText pattern={each.pattern} />
                </a>
              </td>
              <td data-number="true">{number(each.before)}</td>
              <td data-number="true">{number(each.now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {patterns.length > SHOWN ? (
        <p class={css.hint}>
          The {SHOWN} largest of {number(patterns.length)} differences.
        </p>
      ) : null}
    </>
  );
}
