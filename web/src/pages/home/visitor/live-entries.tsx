import { Pause, Play } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { timeFormat } from "../../../lib/zone.ts";
import type { LogEntry } from "../../../model/types.ts";
import { IconButton } from "../../../ui/button.tsx";
import { LevelMark } from "../../explorer/histogram/level-mark.tsx";
import css from "./visitor.module.css";

/** Entries in view. */
const SHOWN = 12;
/** Milliseconds between two entries: slow enough to read them. */
const STEP_MS = 1400;
const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** The newest entries of the sandbox, replayed in their order. Without motion the newest ones stand still. */
export function LiveEntries({ entries }: { entries: readonly LogEntry[] }) {
  const [isMoving, setMoving] = useState(() => !matchMedia("(prefers-reduced-motion: reduce)").matches);
  /** Index of the newest entry in view, counted from the oldest. */
  const [head, setHead] = useState(SHOWN);
  const oldestFirst = entries.toReversed();
  useEffect(() => {
    if (!isMoving || entries.length <= SHOWN) return;
    const timer = setInterval(() => {
      if (!document.hidden) setHead((before) => before + 1);
    }, STEP_MS);
    return () => clearInterval(timer);
  }, [isMoving, entries.length]);
  const count = Math.min(SHOWN, oldestFirst.length);
  const rows = Array.from({ length: count }, (_, at) => {
    const position = head - 1 - at + oldestFirst.length;
    return { position, entry: oldestFirst[position % oldestFirst.length] };
  });
  return (
    <section class={css.live} aria-label="Entries of the public sandbox">
      <div class={css.liveHead}>
        <span class={css.liveDot} data-moving={isMoving} />
        <h2>Public sandbox</h2>
        <span class={css.quiet}>its newest {entries.length} entries, replayed</span>
        <IconButton
          small
          icon={isMoving ? Pause : Play}
          label={isMoving ? "Pause" : "Replay"}
          onClick={() => setMoving(!isMoving)}
        />
      </div>
      <ol class={css.rows}>
        {rows.map(({ position, entry }) =>
          entry === undefined ? null : (
            <li key={position} class={css.row} data-level={entry.level}>
              <time dateTime={entry.timestamp}>{CLOCK(new Date(entry.timestamp))}</time>
              <LevelMark level={entry.level} />
              <span class={css.kind}>{`${entry.category}/${entry.type}`}</span>
              <bdi class={css.message}>{entry.message}</bdi>
            </li>
          ),
        )}
      </ol>
    </section>
  );
}
