import type { ComponentChildren } from "preact";
import type { Loaded } from "../../lib/load.ts";
import type { Usage } from "../../model/types.ts";
import { sizeOf } from "../settings/usage.tsx";
import { type Now, RATE_MINUTES } from "./now.ts";
import css from "./overview.module.css";

const COUNT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

interface NumbersProps {
  usage: Loaded<Usage>;
  now: Loaded<Now>;
  retentionDays: number;
}

/** The numbers at the top. One that is not there yet, or cannot be had, is a dash. */
export function Numbers({ usage, now, retentionDays }: NumbersProps) {
  const { data } = usage;
  const rate = now.data?.rate ?? null;
  const entries = data && data.recent.entries + (data.stored?.entries ?? 0);
  const bytes = data && data.recent.bytes + (data.stored?.bytes ?? 0);
  return (
    <dl class={css.numbers}>
      <Figure
        title="Entries a minute"
        note={
          <>
            average of {RATE_MINUTES} minutes{rate === null ? null : <span class={css.ofSpark}>; bars: last hour</span>}
          </>
        }
        value={rate === null ? null : COUNT.format(rate)}
      >
        {now.data && rate !== null ? <Spark values={now.data.minutes} /> : null}
      </Figure>
      <Figure
        title="Received today"
        note="by receipt, since 00:00 UTC"
        value={data && COUNT.format(data.ingestedToday)}
      />
      <Figure
        title="Stored entries"
        note={data?.stored === null ? "long-term storage is unavailable" : `kept ${retentionDays} days`}
        value={entries === null ? null : COUNT.format(entries)}
      />
      <Figure title="Stored size" note="compressed" value={bytes === null ? null : sizeOf(bytes)} />
    </dl>
  );
}

interface FigureProps {
  title: string;
  note: ComponentChildren;
  value: string | null;
  children?: ComponentChildren;
}

function Figure({ title, note, value, children }: FigureProps) {
  return (
    <div class={css.figure}>
      <dt>{title}</dt>
      <dd>
        <b>{value ?? "–"}</b>
        <span>{note}</span>
        {children}
      </dd>
    </div>
  );
}

const HEIGHT = 20;

function Spark({ values }: { values: readonly number[] }) {
  const peak = Math.max(1, ...values);
  return (
    <svg class={css.spark} viewBox={`0 0 ${values.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {values.map((value, at) => (
        <rect key={at} x={at + 0.1} y={HEIGHT - (value / peak) * HEIGHT} width={0.8} height={(value / peak) * HEIGHT} />
      ))}
    </svg>
  );
}
