import { ListTree } from "lucide";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { LogEntry } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { TextButton } from "../../../ui/text-button.tsx";
import { Time } from "../../../ui/time.tsx";
import { EntryLinks } from "../../investigate/entry-links.tsx";
import type { FilterPatch } from "../filters.ts";
import { visible } from "../view/visible.ts";
import css from "./details.module.css";
import { JsonTree } from "./json-tree.tsx";
import { LongText } from "./long-text.tsx";
import { Marked } from "./marked.tsx";

const FULL = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
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

/** All members of an entry. */
export function Details({ id, entry, project, onFilter, onContext, link }: DetailsProps) {
  const json = useMemo(() => JSON.stringify(entry, null, 2), [entry]);
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
        <Copy text={json} label="Copy as JSON" />
        {link === null ? null : <Copy text={link} label="Copy link" />}
      </div>
      <p class={css.message}>
        <LongText text={entry.message}>{(shown) => <Marked text={shown} />}</LongText>
      </p>
      <dl class={css.fields}>
        <Fact name="Time">
          <Time at={entry.timestamp} format={FULL} /> <span class={css.quiet}>{entry.timestamp}</span>
        </Fact>
        <Fact name="Received">
          <Time at={entry.receivedAt} format={FULL} />
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
        {traceId === undefined ? null : <Choice name="Trace" value={traceId} onChoose={() => onFilter({ traceId })} />}
        {spanId === undefined ? null : <Fact name="Span">{visible(spanId)}</Fact>}
        {project === null ? null : <Fact name="Project">{visible(project)}</Fact>}
        <Fact name="Seq">{entry.seq.toLocaleString()}</Fact>
        <Fact name="ID">
          <code>{entry.id}</code>
        </Fact>
      </dl>
      {data === undefined || Object.keys(data).length === 0 ? null : (
        <>
          <h3 class={css.heading}>Data</h3>
          <JsonTree data={data} onFilter={onFilter} />
        </>
      )}
    </section>
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

/** A value that filters on a click. */
function Choice({ name, value, onChoose }: { name: string; value: string; onChoose: () => void }) {
  return (
    <Fact name={name}>
      <TextButton class={css.choice} title={`Filter by this ${name.toLowerCase()}`} onPress={onChoose}>
        {visible(value)}
      </TextButton>
    </Fact>
  );
}
