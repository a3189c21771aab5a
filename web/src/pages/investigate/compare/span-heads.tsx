import { span } from "../../../lib/span-text.ts";
import { entries, number } from "../../explorer/view/format.ts";
import { lengthText } from "../length-text.ts";
import { toolLink } from "../links.ts";
import { percent } from "../percent.ts";
import type { Investigation } from "../use-investigation.ts";
import css from "./compare.module.css";
import { spanView, type TimeSpan } from "./spans-of-time.ts";
import type { Overview } from "./use-comparison.ts";

interface SpanHeadsProps {
  investigation: Investigation;
  before: TimeSpan;
  now: TimeSpan;
  /** `null` until loaded. */
  overview: Overview | null;
}

/** Both spans with their numbers of entries, linked to them. */
export function SpanHeads({ investigation, before, now, overview }: SpanHeadsProps) {
  const { workspaceId, projectId, filter } = investigation;
  const link = (of: TimeSpan) => toolLink(workspaceId, projectId, null, spanView(filter, of));
  const totals = overview && { before: overview.before.total, now: overview.now.total };
  return (
    <dl class={css.heads}>
      <div class={css.head}>
        <dt>
          <span class={css.beforeKey} aria-hidden="true" /> Before
        </dt>
        <dd>
          <a href={link(before)}>{span(before.start, before.end)}</a>
          <span class={css.quiet}> {lengthText(before.end - before.start)}</span>
        </dd>
        <dd class={css.total}>{totals === null ? "…" : entries(totals.before)}</dd>
      </div>
      <div class={css.head}>
        <dt>
          <span class={css.nowKey} aria-hidden="true" /> Now
        </dt>
        <dd>
          <a href={link(now)}>{span(now.start, now.end)}</a>
          <span class={css.quiet}> {lengthText(now.end - now.start)}</span>
        </dd>
        <dd class={css.total}>
          {totals === null ? (
            "…"
          ) : (
            <>
              {entries(totals.now)} <span class={css.quiet}>{changeText(totals.before, totals.now)}</span>
            </>
          )}
        </dd>
      </div>
    </dl>
  );
}

/** How many times as many entries are shown as a factor and not in percent. */
const FACTOR = 10;

function changeText(before: number, now: number): string {
  if (before === now) return "same";
  const sign = now > before ? "+" : "−";
  const by = Math.abs(now - before);
  if (before === 0) return `${sign}${number(by)}`;
  const factor = now / before;
  return `${sign}${number(by)}, ${factor >= FACTOR ? `×${number(Number(factor.toPrecision(3)))}` : `${sign}${percent(by / before)}`}`;
}
