import { useState } from "preact/hooks";
import type { LogEntry } from "../../model/types.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import type { FilterPatch } from "../explorer/filters.ts";
import { SearchedText } from "../explorer/results/marked.tsx";
import { Results } from "../explorer/results/results.tsx";
import { BudgetNotice } from "./budget-notice.tsx";
import { curlCommand } from "./code.ts";
import type { Sandbox, SandboxState } from "./sandbox.ts";
import { Search } from "./search.tsx";
import { Tabs } from "./tabs.tsx";
import type { Live } from "./use-live.ts";
import { queryCall, type SearchState } from "./use-search.ts";

const VIEWS = [
  { name: "live", title: "Live" },
  { name: "search", title: "Search" },
] as const;

/** Labels of the tail's states. */
const STATES = {
  off: "Stopped",
  connecting: "Connecting",
  "catching-up": "Catching up",
  live: "Live",
  paused: "Paused",
  ended: "Ended",
} as const;

interface FeedProps {
  sandbox: Sandbox;
  budgets: SandboxState["budgets"];
  live: Live;
  search: SearchState;
}

/** The sandbox's entries: those of the live view and those of a search. */
export function Feed({ sandbox, budgets, live, search }: FeedProps) {
  const [view, setView] = useState<"live" | "search">("live");
  const filter = (patch: FilterPatch): void => {
    search.patch(patch);
    setView("search");
    toast("Added to the query. Search to apply it (1 read).");
  };
  const look = (entry: LogEntry): void => {
    setView("search");
    void search.looking.run(entry);
  };
  return (
    <Card title="Entries in the sandbox">
      <Tabs label="Which entries" tabs={VIEWS} chosen={view} onChoose={setView}>
        {view === "live" ? (
          <LiveView sandbox={sandbox} budgets={budgets} live={live} onFilter={filter} onContext={look} />
        ) : (
          <SearchView sandbox={sandbox} budgets={budgets} search={search} onFilter={filter} onContext={look} />
        )}
      </Tabs>
    </Card>
  );
}

interface Clicks {
  onFilter: (patch: FilterPatch) => void;
  onContext: (entry: LogEntry) => void;
}

function LiveView({ sandbox, budgets, live, onFilter, onContext }: Omit<FeedProps, "search"> & Clicks) {
  const { state, reason, buffered, entries, limited } = live;
  const isOff = state === "off" || state === "ended";
  return (
    <>
      <Row>
        <span role="status">
          <Badge {...(state === "live" ? { tone: "good" as const } : {})}>{STATES[state]}</Badge>{" "}
          {reason === null ? "" : reason}
          {buffered > 0 ? ` ${buffered} new.` : ""}
        </span>
        {isOff ? (
          <Button
            small
            onClick={() => {
              // Resets an ended view, which otherwise counts as running.
              live.stop();
              void live.follow(sandbox);
            }}
          >
            Start (1 read)
          </Button>
        ) : (
          <>
            {state === "paused" ? (
              <Button small onClick={live.resume}>
                Resume
              </Button>
            ) : (
              <Button small onClick={live.pause}>
                Pause
              </Button>
            )}
            <Button small onClick={live.stop}>
              Stop
            </Button>
          </>
        )}
        {entries.length > 0 ? (
          <Button small look="quiet" onClick={live.clear}>
            Clear list
          </Button>
        ) : null}
      </Row>
      {limited ? <BudgetNotice state={budgets.reads} what="reads" /> : null}
      {entries.length === 0 ? (
        <Empty title={isOff ? "Live view stopped" : "No entries yet"}>
          <p>
            {isOff
              ? "Sending an entry starts the live view, for 1 read."
              : "Send an entry or wait for other users of the sandbox."}
          </p>
        </Empty>
      ) : (
        <Results
          entries={entries}
          busy={false}
          hasMore={false}
          onMore={() => undefined}
          onFilter={onFilter}
          onContext={onContext}
        />
      )}
    </>
  );
}

function SearchView({ sandbox, budgets, search, onFilter, onContext }: Omit<FeedProps, "live"> & Clicks) {
  const { text, setText, found, answer, running, looking } = search;
  const failure = running.failure ?? looking.failure;
  const isBusy = running.busy || looking.busy;
  return (
    <>
      <Search
        text={text}
        busy={isBusy}
        answer={answer}
        curl={curlCommand(location.origin, queryCall(sandbox, text))}
        onChange={setText}
        onRun={() => void running.run(null)}
      />
      <BudgetNotice state={budgets.reads} what="reads" />
      {failure ? <Failure failure={failure} /> : null}
      {found === null ? (
        <Empty title="No search yet">
          <p>The sandbox has six hours of logs of a small web shop. A search costs 1 read.</p>
        </Empty>
      ) : (
        <>
          <h3>{found.title}</h3>
          <SearchedText.Provider value={found.search}>
            <Results
              entries={found.entries}
              busy={isBusy}
              hasMore={false}
              onMore={() => undefined}
              onFilter={onFilter}
              onContext={onContext}
              empty={<p>No matching entries.</p>}
            />
          </SearchedText.Provider>
          {found.cursor === null ? null : (
            <Row>
              <Button busy={isBusy} onClick={() => void running.run(found.cursor)}>
                More (1 read)
              </Button>
            </Row>
          )}
        </>
      )}
    </>
  );
}
