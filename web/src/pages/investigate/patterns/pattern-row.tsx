import { ChartColumn, Copy, Ellipsis, FilterX, ListFilter } from "lucide";
import { useLocation } from "preact-iso";
import { printDuration } from "../../../../../src/query-language/values.ts";
import { span } from "../../../lib/span-text.ts";
import { visible } from "../../../lib/visible.ts";
import { timeFormat } from "../../../lib/zone.ts";
import { copyText } from "../../../ui/copy.tsx";
import { Menu } from "../../../ui/menu.tsx";
import { Time } from "../../../ui/time.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { LevelMark } from "../../explorer/histogram/level-mark.tsx";
import { number, short } from "../../explorer/view/format.ts";
import { not, patternTest, withTest } from "../added-test.ts";
import { binFor } from "../bins.ts";
import { toolLink, viewOf } from "../links.ts";
import { percent } from "../percent.ts";
import { Spark } from "../spark.tsx";
import type { Investigation } from "../use-investigation.ts";
import { ChangeBadge } from "./change-badge.tsx";
import { isError, type Pattern, sumOf, type Trend } from "./pattern-model.ts";
import { PatternText } from "./pattern-text.tsx";
import css from "./patterns.module.css";
import type { Trends } from "./use-patterns.ts";

/** Times of a range within one day, and of another one. */
const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const MINUTE = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

interface PatternRowProps {
  pattern: Pattern;
  /** `null` until loaded. */
  trends: Trends | null;
  isCompared: boolean;
  /** Whether the level has a column of its own. */
  isWide: boolean;
  /** Whether the range is of several days. */
  isLong: boolean;
  investigation: Investigation;
}

export function PatternRow({ pattern: row, trends, isCompared, isWide, isLong, investigation }: PatternRowProps) {
  const { pattern, count, before, share, change } = row;
  const trend = pattern === null ? undefined : trends?.of.get(pattern);
  const level = <LevelOf trend={trend} />;
  const seenAt = (at: number | undefined) =>
    at === undefined ? null : <Time at={at} format={isLong ? MINUTE : CLOCK} />;
  return (
    <tr>
      {isCompared ? (
        <td class={css.change}>
          {change === null ? <span class="visually-hidden">Same</span> : <ChangeBadge change={change} />}
        </td>
      ) : null}
      {isWide ? <td class={css.level}>{level}</td> : null}
      <td class={css.pattern}>
        {isWide ? null : (
          <span class={css.above}>
            {level}
            {trend?.seen ? <span class={css.until}>last {seenAt(trend.seen.last)}</span> : null}
          </span>
        )}
        {pattern === null ? (
          <span class={css.others}>All other patterns</span>
        ) : (
          <PatternLink pattern={pattern} investigation={investigation} />
        )}
      </td>
      <td data-number="true">{number(count)}</td>
      <td class={`${css.share} ${css.wide}`}>
        <span class={css.percent}>{percent(share)}</span>
        <span class={css.track} aria-hidden="true">
          <span class={css.bar} style={{ width: `${100 * share}%` }} />
        </span>
      </td>
      {isCompared ? (
        <td data-number="true" class={css.wide}>
          {before === null || pattern === null ? "–" : number(before)}
        </td>
      ) : null}
      <td class={`${css.seen} ${css.first}`}>{seenAt(trend?.seen?.first)}</td>
      <td class={css.seen}>{seenAt(trend?.seen?.last)}</td>
      <td class={css.trend}>{pattern === null ? null : <TrendOf pattern={row} trends={trends} />}</td>
      <td class={css.actions}>
        {pattern === null ? null : <Actions pattern={pattern} investigation={investigation} />}
      </td>
    </tr>
  );
}

/** The pattern, linked to its entries. */
function PatternLink({ pattern, investigation }: { pattern: string; investigation: Investigation }) {
  const { workspaceId, projectId, view, filter } = investigation;
  const query = withTest(filter, patternTest(pattern));
  return (
    <a class={css.link} href={toolLink(workspaceId, projectId, null, viewOf(query, view.range))} title="Show entries">
      <PatternText pattern={pattern} />
    </a>
  );
}

/** The most frequent level of a pattern's entries, with the number of errors among them if that is another level. */
function LevelOf({ trend }: { trend: Trend | undefined }) {
  if (trend === undefined || trend.level === null) return null;
  const { level, errors } = trend;
  return (
    <span class={css.levels}>
      <LevelMark level={level} />
      {errors === 0 || isError(level) ? null : (
        <span class={css.errors}>
          {number(errors)} {errors === 1 ? "error" : "errors"}
        </span>
      )}
    </span>
  );
}

function TrendOf({ pattern: { pattern, count }, trends }: { pattern: Pattern; trends: Trends | null }) {
  if (trends === null || pattern === null) return null;
  const { bins } = trends;
  const trend = trends.of.get(pattern);
  if (trend === undefined && count > 0) return <span class={css.none}>–</span>;
  const counts = trend?.counts ?? Array<number>(bins.spans).fill(0);
  const most = Math.max(...counts);
  const at = bins.start + counts.indexOf(most) * bins.binMs;
  const label = `At most ${number(most)} in ${printDuration(bins.binMs)}: ${span(at, at + bins.binMs)}`;
  const worst = trend?.worst ?? null;
  const severe = worst === null ? "" : `, ${number(sumOf(worst.counts))} ${worst.level}`;
  return (
    <span class={css.peaked}>
      <Spark
        counts={counts}
        tone={trend?.level ?? "other"}
        part={worst && { counts: worst.counts, tone: worst.level }}
        label={most === 0 ? "No entries" : `${label}${severe}`}
      />
      {/* Each row has a scale of its own. */}
      <span class={css.peak} aria-hidden="true">
        {most === 0 ? "" : short(most)}
      </span>
    </span>
  );
}

function Actions({ pattern, investigation }: { pattern: string; investigation: Investigation }) {
  const { workspaceId, projectId, view, filter, change, times } = investigation;
  const { route } = useLocation();
  const test = patternTest(pattern);
  const logs = (query: string) => route(toolLink(workspaceId, projectId, null, viewOf(query, view.range)));
  return (
    <Menu
      label={`Actions of ${visible(pattern.slice(0, 80))}`}
      icon={Ellipsis}
      iconOnly
      look="quiet"
      small
      placement="bottom-end"
      items={[
        { label: "Add to query", icon: ListFilter, onSelect: () => logs(withTest(filter, test)) },
        {
          label: "Exclude",
          icon: FilterX,
          onSelect: () => change({ query: withTest(filter, not(test)) }),
        },
        {
          label: "Chart by level",
          icon: ChartColumn,
          onSelect: () => logs(`${withTest(filter, test)} | count by level, bin(${binText(times)})`),
        },
        { label: "Copy pattern", icon: Copy, startsGroup: true, onSelect: () => void copied(pattern) },
      ]}
    />
  );
}

/** Spans of the chart of a pattern, at most. */
const CHARTED = 60;

function binText({ start, end }: { start: number; end: number }): string {
  return printDuration(binFor(end - start, CHARTED));
}

async function copied(pattern: string): Promise<void> {
  if (await copyText(pattern)) toast("Copied the pattern.");
}
