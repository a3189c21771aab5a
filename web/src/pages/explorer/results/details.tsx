import { ListTree } from "lucide";
import type { ComponentChildren } from "preact";
import { visible } from "../../../lib/visible.ts";
import { timeFormat } from "../../../lib/zone.ts";
import type { LogEntry } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { TextButton } from "../../../ui/text-button.tsx";
import { EntryLinks } from "../../investigate/entry-links.tsx";
import type { FilterPatch } from "../filters.ts";
import { AnsiText } from "./ansi-text.tsx";
import { textOf } from "./copy-entry.ts";
import { CopyMenu } from "./copy-menu.tsx";
import { copyText } from "./copy-text.ts";
import css from "./details.module.css";
import { JsonTree } from "./json-tree.tsx";
import { LongText } from "./long-text.tsx";
import { isStackTrace } from "./stack-trace.ts";
import { StackView } from "./stack-view.tsx";

const FULL = timeFormat({
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  timeZoneName: "short",
});

interface DetailsProps {
  id: string;
  entry: LogEntry;
  project: string | null;
  onFilter: (patch: FilterPatch) => void;
  /** `null` if the entry is already shown in its context. */
  onContext: (() => void) | null;
  /** Address of a page that shows this entry, or `null`. */
  link: string | null;
}

export function copyAsText(entry: LogEntry): void {
  void copyText(textOf(entry), "Copied as text");
}

/** All members of an entry. */
export function Details({ id, entry, project, onFilter, onContext, link }: DetailsProps) {
  const { level, category, type, session, traceId, spanId, service, host, data } = entry;
  return (
    <section class={css.details} id={id} aria-label={`Details of entry ${entry.seq}`}>
      <div class={css.acts}>
        {onContext === null ? null : (
          <Button small icon={ListTree} onClick={onContext}>
            Show in context
          </Button>
        )}
        <EntryLinks entry={entry} />
        <CopyMenu entry={entry} link={link} />
      </div>
      {isStackTrace(entry.message) ? (
        <StackView text={entry.message} />
      ) : (
        <p class={css.message}>
          <LongText text={entry.message}>{(shown) => <AnsiText text={shown} />}</LongText>
        </p>
      )}
      {data === undefined || Object.keys(data).length === 0 ? null : (
        <>
          <h3 class={css.heading}>Data</h3>
          <JsonTree data={data} onFilter={onFilter} />
        </>
      )}
      <dl class={css.fields}>
        <Fact name="Time">
          <At time={entry.timestamp} /> <span class={css.quiet}>{entry.timestamp}</span>
        </Fact>
        <Fact name="Received">
          <At time={entry.receivedAt} />
        </Fact>
        <Choice name="Level" value={level} onChoose={() => onFilter({ level: [level] })} />
        <Choice name="Category" value={category} onChoose={() => onFilter({ category: [category] })} />
        <Choice name="Type" value={type} onChoose={() => onFilter({ type: [type] })} />
        {service === undefined ? null : (
          <Choice name="Service" value={service} onChoose={() => onFilter({ service: [service] })} />
        )}
        {host === undefined ? null : <Choice name="Host" value={host} onChoose={() => onFilter({ host: [host] })} />}
        {session === undefined ? null : (
          <Choice name="Session" value={session} onChoose={() => onFilter({ session })} />
        )}
        {traceId === undefined ? null : (
          <Choice name="Trace" value={traceId} isId onChoose={() => onFilter({ traceId })} />
        )}
        {spanId === undefined ? null : (
          <Fact name="Span">
            <code>{visible(spanId)}</code>
          </Fact>
        )}
        {project === null ? null : <Fact name="Project">{visible(project)}</Fact>}
        <Fact name="Seq">{entry.seq.toLocaleString()}</Fact>
        <Fact name="ID">
          <code>{entry.id}</code>
        </Fact>
      </dl>
    </section>
  );
}

function At({ time }: { time: string }) {
  return (
    <time dateTime={time} title={`${time} (UTC)`}>
      {FULL(new Date(time))}
    </time>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div class={css.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface ChoiceProps {
  name: string;
  value: string;
  isId?: boolean;
  onChoose: () => void;
}

/** A value that filters on a click. */
function Choice({ name, value, isId = false, onChoose }: ChoiceProps) {
  return (
    <Fact name={name}>
      <TextButton class={css.choice} title={`Filter by this ${name.toLowerCase()}`} onPress={onChoose}>
        {isId ? <code>{visible(value)}</code> : visible(value)}
      </TextButton>
    </Fact>
  );
}
