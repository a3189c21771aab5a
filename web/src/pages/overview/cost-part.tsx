import type { Loaded } from "../../lib/load.ts";
import { type CostEstimate, dollars, estimateCost, PRICES } from "../../model/cost.ts";
import type { Usage } from "../../model/types.ts";
import { Facts } from "../../ui/items.tsx";
import { StackedBars } from "../../ui/stacked-bars.tsx";
import { sizeOf } from "../settings/usage.tsx";
import { totalsOf, type UsageDays } from "../usage/days.ts";
import { dayName } from "../usage/days-chart.tsx";
import css from "./overview.module.css";
import { Part } from "./part.tsx";

interface CostPartProps {
  days: Loaded<UsageDays>;
  usage: Loaded<Usage>;
}

/** What the entries of 30 days cost on Cloudflare, and how they add up: the service has no stored bytes by day. */
export function CostPart({ days, usage }: CostPartProps) {
  const data = days.data && usage.data && { days: days.data, usage: usage.data };
  const failure = days.failure ?? usage.failure;
  const reload = (): void => (days.failure ? days.reload() : usage.reload());
  return (
    <Part title="Storage and cost" loaded={{ data, failure, reload }}>
      {({ days, usage }) => {
        const totals = totalsOf(days);
        const entries = totals.reduce((sum, each) => sum + each, 0);
        const { ingest, storage } = estimateCost(entries, usage);
        const names = days.days.map(dayName);
        return (
          <>
            <Facts
              facts={[
                ["Stored now", sizeOf(usage.recent.bytes + (usage.stored?.bytes ?? 0))],
                ["Ingest of 30 days", span(ingest)],
                ["Storage a month", dollars(storage)],
              ]}
            />
            <p class={css.quiet}>Entries of 30 days, added up</p>
            <StackedBars
              label={`Entries added up by day, ${names[0]} to ${names.at(-1)}`}
              series={[{ name: "Entries so far", color: "var(--series-3)", values: addedUp(totals) }]}
              names={names}
              ends={[names[0] ?? "", "today"]}
              isTotalShown={false}
            />
            <p class={css.quiet}>
              An estimate at Cloudflare's list prices: ${PRICES.ingestInLargeBatches} a million entries in batches of
              1,000, ${PRICES.ingestPerMillion} in batches of 50.
            </p>
          </>
        );
      }}
    </Part>
  );
}

function span({ least, most }: CostEstimate["ingest"]): string {
  const [from, to] = [dollars(least), dollars(most)];
  if (from === to) return from;
  return least < 0.01 ? `up to ${to}` : `${from} to ${to}`;
}

function addedUp(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => (sum += value));
}
