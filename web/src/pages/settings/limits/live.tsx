import type { ApiFailure } from "../../../api/failure.ts";
import { usePoll } from "../../../lib/poll.ts";
import { timeFormat } from "../../../lib/zone.ts";
import type { LiveCounter } from "../../../model/types.ts";
import { Card } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { useNames } from "../caller-names.ts";
import css from "./limits.module.css";
import { ruleInWords } from "./words.ts";

/** Milliseconds between two updates of the counters. */
const REFRESH_MS = 3000;
const COUNT = new Intl.NumberFormat();
const CLOCK = timeFormat({ timeStyle: "medium" });

interface LiveCountersProps {
  workspaceId: string;
  live: readonly LiveCounter[];
  /** Failure of the last update: polling stops, so that a used-up limit is not charged again. */
  failure: ApiFailure | null;
  onRefresh: () => void;
}

/** Current usage of each limit by keys and members. */
export function LiveCounters({ workspaceId, live, failure, onRefresh }: LiveCountersProps) {
  usePoll(() => {
    if (failure === null) onRefresh();
  }, REFRESH_MS);
  const name = useNames(
    workspaceId,
    live.map(({ identifier }) => identifier),
  );
  return (
    <Card title="Current usage">
      <p>Refreshes every few seconds. These requests count towards your limit.</p>
      {live.length === 0 ? <p>No requests at the moment.</p> : null}
      <ul class={css.bars} aria-label="Counters">
        {live.map((counter) => (
          <li key={`${counter.identifier} ${counter.rule}`}>
            <Bar counter={counter} name={name(counter.identifier)} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Bar({ counter: { rule, limit, remaining, resetAt }, name }: { counter: LiveCounter; name: string }) {
  // After a limit was lowered, `remaining` may be negative.
  const used = limit - Math.max(0, remaining);
  const share = used / limit;
  const look = remaining <= 0 ? css.full : share >= 0.8 ? css.near : "";
  return (
    <div class={css.counter}>
      <div class={css.who}>
        <span>{name}</span>
        <span class={css.under}>{ruleInWords(rule)}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: the element's own bar cannot be styled alike in all browsers. */}
      <div
        class={css.track}
        role="meter"
        aria-label={`${name}, ${ruleInWords(rule)}`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={used}
        aria-valuetext={`${used} of ${limit}`}
      >
        <div class={`${css.fill} ${look}`} style={{ width: `${share * 100}%` }} />
      </div>
      <div class={css.numbers}>
        <span>
          {COUNT.format(used)} of {COUNT.format(limit)}
          {remaining <= 0 ? ", limit reached" : ""}
        </span>
        <span>
          refills at <Time at={resetAt} format={CLOCK} />
        </span>
      </div>
    </div>
  );
}
