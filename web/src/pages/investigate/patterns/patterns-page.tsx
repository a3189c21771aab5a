import { useCallback, useMemo } from "preact/hooks";
import { timeFormat } from "../../../lib/zone.ts";
import { Button } from "../../../ui/button.tsx";
import { Select } from "../../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { useMedia } from "../../../ui/use-media.ts";
import { Notes } from "../../explorer/search/notes.tsx";
import { entries, number } from "../../explorer/view/format.ts";
import { notesOf } from "../ask.ts";
import { Frame } from "../frame.tsx";
import { type Investigation, useInvestigation } from "../use-investigation.ts";
import { useKept } from "../use-kept.ts";
import {
  beforeIn,
  type Change,
  hasBaseline,
  type Order,
  type Pattern,
  tooFewText,
  withoutMissing,
} from "./pattern-model.ts";
import { PatternRow } from "./pattern-row.tsx";
import css from "./patterns.module.css";
import { type FoundPatterns, useListed, usePatterns, useTrends, VERSUS, type Versus } from "./use-patterns.ts";

const ORDERS = [
  { value: "count", label: "Most frequent first" },
  { value: "errors", label: "Most errors first" },
  { value: "new", label: "New first" },
  { value: "rarest", label: "Rarest first" },
  { value: "change", label: "Largest change first" },
] as const;

const CHANGES: readonly { value: Change; label: string }[] = [
  { value: "new", label: "New" },
  { value: "risen", label: "Risen" },
  { value: "fallen", label: "Fallen" },
  { value: "gone", label: "Gone" },
];

/** What kinds of messages the entries of a query have, how each develops, and what is new. */
export function PatternsPage() {
  const investigation = useInvestigation(["vs", "order", "show"]);
  const { own, change } = investigation;
  const versus = VERSUS.find(({ value }) => value === own.get("vs"))?.value ?? "1d";
  const order: Order = ORDERS.find(({ value }) => value === own.get("order"))?.value ?? "count";
  const { loaded, found } = usePatterns(investigation, versus, order);
  const controls = (
    <>
      <span class={css.control}>
        <Select
          label="Compared with"
          value={versus}
          options={VERSUS}
          disabled={investigation.view.range.kind === "all"}
          onChange={(value: Versus) => change({}, { vs: value === "1d" ? "" : value })}
        />
      </span>
      <span class={css.control}>
        <Select
          label="Order"
          value={order}
          options={ORDERS}
          onChange={(value) => change({}, { order: value === "count" ? "" : value })}
        />
      </span>
    </>
  );
  return (
    <Frame investigation={investigation} tool="patterns" busy={loaded.busy && found !== null} controls={controls}>
      {loaded.failure === null ? null : (
        <div class={css.notice}>
          <Failure failure={loaded.failure} onRetry={loaded.reload} />
        </div>
      )}
      {found === null ? (
        loaded.failure === null && !investigation.isInvalid ? (
          <Loading what="Counting" />
        ) : null
      ) : (
        <List
          investigation={investigation}
          found={found}
          order={order}
          chosen={VERSUS.find(({ value }) => value === versus)?.label ?? ""}
          busy={loaded.busy}
          hasFailed={loaded.failure !== null}
        />
      )}
    </Frame>
  );
}

interface ListProps {
  investigation: Investigation;
  found: FoundPatterns;
  order: Order;
  /** Label of the chosen comparison. */
  chosen: string;
  busy: boolean;
  /** Whether a notice about a failed load is shown above. */
  hasFailed: boolean;
}

/** Width from which the level is a column; below, it is above the pattern. */
const WIDE = "(width >= 1000px)";
const DAY = timeFormat({ dateStyle: "short" });

function List({ investigation, found, order, chosen, busy, hasFailed }: ListProps) {
  const { answers, patterns } = found;
  const isWide = useMedia(WIDE);
  const { own, change } = investigation;
  const shown = CHANGES.find(({ value }) => value === own.get("show"))?.value ?? null;
  const shows = useCallback((pattern: Pattern) => shown === null || pattern.change === shown, [shown]);
  const { all, listed, more } = useListed(found, order, shows);
  const names = useMemo(() => listed.flatMap(({ pattern }) => (pattern === null ? [] : [pattern])), [listed]);
  const loading = useTrends(investigation, names);
  const trends = useKept(loading, `${investigation.filter} ${JSON.stringify(investigation.view.range)}`);
  const { times } = investigation;
  const isLong = DAY(times.start) !== DAY(times.end);
  const hasBefore = patterns.some(({ before }) => before !== null);
  const kinds = patterns.filter(({ pattern }) => pattern !== null).length;
  const total = patterns.reduce((sum, { count }) => sum + count, 0);
  const before = beforeIn(patterns);
  const isCompared = hasBefore && hasBaseline(before, total);
  const isUnmarked = hasBefore && !isCompared && total > 0;
  if (patterns.length === 0) {
    return (
      <div class={css.notice}>
        <Empty title="No patterns">
          <p>No entry matches the query in this range.</p>
        </Empty>
      </div>
    );
  }
  return (
    <section class={css.list} aria-label="Patterns" aria-busy={busy} data-stale={busy}>
      <div class={css.head}>
        <p class={css.total} role="status">
          <strong>{number(kinds)}</strong> {kinds === 1 ? "pattern" : "patterns"} of {entries(total)}
        </p>
        {isCompared ? (
          <fieldset class={css.changes}>
            <legend class="visually-hidden">Show</legend>
            <Choice label="All" count={null} isChosen={shown === null} onChoose={() => change({}, { show: "" })} />
            {CHANGES.map(({ value, label }) => (
              <Choice
                key={value}
                label={label}
                count={patterns.filter((pattern) => pattern.change === value).length}
                isChosen={shown === value}
                onChoose={() => change({}, { show: value })}
              />
            ))}
          </fieldset>
        ) : null}
      </div>
      <div class={css.notes}>
        {isUnmarked ? <p class={css.about}>{tooFewText(before, chosen)}</p> : null}
        <Notes notes={isUnmarked ? withoutMissing(notesOf(answers)) : notesOf(answers)} />
        {trends?.complete === false ? (
          <Notes notes={["Trends lack older entries: narrow the query or the range."]} />
        ) : null}
        {loading.failure === null || hasFailed ? null : <Failure failure={loading.failure} onRetry={loading.reload} />}
      </div>
      {listed.length === 0 ? (
        <Empty title="None" />
      ) : (
        <table class={css.table}>
          <thead>
            <tr>
              {isCompared ? <th scope="col">Change</th> : null}
              {isWide ? (
                <th scope="col" class={css.level}>
                  Level
                </th>
              ) : null}
              <th scope="col" class={css.pattern}>
                Pattern
              </th>
              <th scope="col" data-number="true">
                Entries
              </th>
              <th scope="col" class={css.wide}>
                Share
              </th>
              {isCompared ? (
                <th scope="col" data-number="true" class={css.wide}>
                  Before
                </th>
              ) : null}
              <th scope="col" class={`${css.seen} ${css.first}`} data-long={isLong}>
                First
              </th>
              <th scope="col" class={css.seen} data-long={isLong}>
                Last
              </th>
              <th scope="col" class={css.trend}>
                Trend
                {trends === null && loading.busy ? (
                  <span class={css.none} role="status">
                    {" "}
                    counting …
                  </span>
                ) : null}
              </th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.map((pattern) => (
              <PatternRow
                key={pattern.pattern ?? ""}
                pattern={pattern}
                trends={trends}
                isCompared={isCompared}
                isWide={isWide}
                isLong={isLong}
                investigation={investigation}
              />
            ))}
          </tbody>
        </table>
      )}
      {listed.length < all.length ? (
        <div class={css.foot}>
          <Button small onClick={more}>
            Show more
          </Button>
        </div>
      ) : null}
    </section>
  );
}

interface ChoiceProps {
  label: string;
  count: number | null;
  isChosen: boolean;
  onChoose: () => void;
}

function Choice({ label, count, isChosen, onChoose }: ChoiceProps) {
  return (
    <button type="button" class={css.choice} aria-pressed={isChosen} onClick={onChoose}>
      {label}
      {count === null ? null : <span class={css.count}>{number(count)}</span>}
    </button>
  );
}
