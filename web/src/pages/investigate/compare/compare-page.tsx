import type { ComponentChildren } from "preact";
import { span } from "../../../lib/span-text.ts";
import { Select } from "../../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { Notes } from "../../explorer/search/notes.tsx";
import { TimeRange } from "../../explorer/toolbar/time-range.tsx";
import { entries } from "../../explorer/view/format.ts";
import { between } from "../../explorer/view/range.ts";
import { notesOf } from "../ask.ts";
import { Frame } from "../frame.tsx";
import { toolLink } from "../links.ts";
import { ReleaseLinks } from "../releases/release-links.tsx";
import { OFFERED } from "../releases/releases.ts";
import { type Investigation, useInvestigation } from "../use-investigation.ts";
import css from "./compare.module.css";
import { errorPeak, newerHalf } from "./counts.ts";
import { FieldList } from "./field-list.tsx";
import { LevelTable } from "./level-table.tsx";
import { NumberTable } from "./number-table.tsx";
import { Overlay } from "./overlay.tsx";
import { PatternList } from "./pattern-list.tsx";
import { SpanHeads } from "./span-heads.tsx";
import { BASES, type Base, baseSpan, boundsOf, customSpan, nowSpan, type TimeSpan } from "./spans-of-time.ts";
import { LEAST, type Overview, useComparison } from "./use-comparison.ts";

/** Parameters with the times of another span. */
const CUSTOM = ["baseFrom", "baseTo"] as const;
const NOT_OFFERED = Object.fromEntries(OFFERED.map((name) => [name, ""]));

/** How the entries of a query differ between two ranges. */
export function ComparePage() {
  const of = useInvestigation(["with", ...CUSTOM, ...OFFERED]);
  const { own, view, times } = of;
  const change: Investigation["change"] = (patch, changed = {}) =>
    // Another range has releases of its own.
    of.change(patch, patch.range === undefined ? changed : { ...NOT_OFFERED, ...changed });
  const invalidParameters = [...of.invalidParameters];
  const investigation = { ...of, change, invalidParameters };
  const base: Base = BASES.find(({ value }) => value === own.get("with"))?.value ?? "before";
  if (own.has("with") && own.get("with") !== base) invalidParameters.push("with");
  const custom = base === "custom" ? customSpan(own, CUSTOM, invalidParameters) : null;
  // The links to the releases are made of it.
  customSpan(own, OFFERED, invalidParameters);
  const now = nowSpan(view.range, times);
  const before = baseSpan(now, base, custom);
  const isEndless = view.range.kind === "all";
  /** What the control of another span begins with. */
  const chosen = before ?? now;
  const chooseBase = (next: Base): void => {
    const { from, to } = boundsOf(chosen);
    const own = { with: next === "before" ? "" : next };
    change({}, next === "custom" ? { ...own, baseFrom: from, baseTo: to } : { ...own, baseFrom: "", baseTo: "" });
  };
  const controls = (
    <span class={css.base}>
      <Select label="Compare with" value={base} options={BASES} disabled={isEndless} onChange={chooseBase} />
      {base === "custom" ? (
        <TimeRange
          range={{ kind: "between", ...boundsOf(chosen) }}
          times={{ ...boundsOf(chosen), ...chosen }}
          onChange={(range) => {
            if (range.kind !== "between" || range.from === null || range.to === null) return;
            change({}, { baseFrom: range.from, baseTo: range.to });
          }}
        />
      ) : null}
    </span>
  );
  if (isEndless || before === null) {
    return (
      <Frame investigation={investigation} tool="compare" busy={false} controls={controls}>
        <div class={css.notice}>
          <Empty title="No range to compare with">
            <p>{isEndless ? "There is no time before all time." : "It would be before 1970."} Choose a time range.</p>
          </Empty>
        </div>
      </Frame>
    );
  }
  if (investigation.isInvalid) {
    return (
      <Frame investigation={investigation} tool="compare" busy={false} controls={controls}>
        {null}
      </Frame>
    );
  }
  return <Compared investigation={investigation} before={before} now={now} controls={controls} />;
}

interface ComparedProps {
  investigation: Investigation;
  before: TimeSpan;
  now: TimeSpan;
  controls: ComponentChildren;
}

function Compared({ investigation, before, now, controls }: ComparedProps) {
  const { overview, fields, shownOverview, shownFields } = useComparison(investigation, before, now);
  const failed = [overview, fields].find(({ failure }) => failure !== null);
  const busy = overview.busy || fields.busy;
  const of = { investigation, before, now };
  const patterns = shownOverview?.patterns ?? null;
  return (
    <Frame investigation={investigation} tool="compare" busy={busy && shownOverview !== null} controls={controls}>
      {/* Before the results, so that nothing of it moves when another release is chosen. */}
      <SpanHeads {...of} overview={shownOverview} />
      <ReleaseLinks {...of} isWanted={shownOverview !== null} />
      {failed?.failure ? (
        <div class={css.notice}>
          <Failure failure={failed.failure} onRetry={failed.reload} />
        </div>
      ) : null}
      {shownOverview === null ? (
        failed === undefined ? (
          <Loading what="Comparing" />
        ) : null
      ) : (
        <div class={css.content} aria-busy={overview.busy} data-stale={overview.busy}>
          <div class={css.notes}>
            {patterns === null ? <NotCompared investigation={investigation} overview={shownOverview} /> : null}
            <Notes notes={notesOf(shownOverview.answers)} />
          </div>
          <Overlay before={shownOverview.before} now={shownOverview.now} />
          <div class={css.columns}>
            <section class={css.section} aria-labelledby="compare-fields">
              <h2 id="compare-fields">Fields</h2>
              {patterns === null ? (
                <p class={css.none}>Not compared.</p>
              ) : shownFields === null ? (
                fields.failure === null ? (
                  <Loading what="Comparing fields" />
                ) : null
              ) : (
                <>
                  <FieldList {...of} fields={shownFields.differences} />
                  {shownFields.differences === null ? null : (
                    <>
                      <NumberTable numbers={shownFields.numbers} />
                      <Notes notes={notesOf(shownFields.answers)} />
                    </>
                  )}
                </>
              )}
            </section>
            <div>
              <section class={css.section} aria-labelledby="compare-levels">
                <h2 id="compare-levels">Levels</h2>
                <LevelTable before={patterns === null ? null : shownOverview.before} now={shownOverview.now} />
              </section>
              <section class={css.section} aria-labelledby="compare-patterns">
                <h2 id="compare-patterns">Patterns</h2>
                {patterns === null ? (
                  <p class={css.none}>Not compared.</p>
                ) : (
                  <PatternList
                    {...of}
                    patterns={patterns}
                    totals={{ before: shownOverview.before.total, now: shownOverview.now.total }}
                  />
                )}
              </section>
            </div>
          </div>
        </div>
      )}
    </Frame>
  );
}

interface NotComparedProps {
  investigation: Investigation;
  overview: Overview;
}

/** Says that the earlier range has too few entries, and what can be compared instead. */
function NotCompared({ investigation, overview: { before, now } }: NotComparedProps) {
  const { workspaceId, projectId, view } = investigation;
  if (before.total === 0 && now.total === 0) return <p class={css.about}>Neither range has entries of this query.</p>;
  const found =
    before.total === 0
      ? "no entries of this query to compare with"
      : `only ${entries(before.total)} of this query, too few to compare with`;
  const [half, peak] = [newerHalf(now, LEAST), errorPeak(now)];
  const link = ({ start, end }: TimeSpan) =>
    toolLink(workspaceId, projectId, "compare", { ...view, range: between(start, end) });
  return (
    <>
      <p class={css.about}>
        The earlier range has {found}. Choose another range above or the time around a release
        {half === null && peak === null ? "." : ", or compare within this range:"}
      </p>
      {half === null && peak === null ? null : (
        <ul class={css.offers}>
          {half === null ? null : (
            <li>
              <a href={link(half)}>{span(half.start, half.end)}</a>, the newer half of the time with entries, against
              the older half
            </li>
          )}
          {peak === null ? null : (
            <li>
              <a href={link(peak)}>{span(peak.start, peak.end)}</a>, the time of the most errors, with the time before
              it
            </li>
          )}
        </ul>
      )}
    </>
  );
}
