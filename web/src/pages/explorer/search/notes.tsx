import { useLoad } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { timeFormat } from "../../../lib/zone.ts";
import { authorized } from "../../../session/session.ts";
import type { Times } from "../view/range.ts";
import type { View } from "../view/view.ts";
import css from "./answer-view.module.css";

/** What to know about a query or its answer, one line each. A note that occurs twice is shown once. */
export function Notes({ notes }: { notes: readonly string[] }) {
  return [...new Set(notes)].map((note) => (
    <p class={css.note} key={note}>
      {visible(note).split(PARTS).map(part)}
    </p>
  ));
}

/** Parts of a note that are not plain text: names and queries in backticks, and times. */
const PARTS = /(`[^`]+`|\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z)/;
const MOMENT = timeFormat({ dateStyle: "medium", timeStyle: "medium" });

function part(text: string, at: number) {
  // Every second part is one that was found.
  if (at % 2 === 0) return text;
  return text.startsWith("`") ? <code key={at}>{text.slice(1, -1)}</code> : MOMENT(new Date(text));
}

interface EmptyNotesProps {
  workspaceId: string;
  projectId: string | null;
  view: View;
  times: Times;
  /** Notes that are shown already. */
  shown: readonly string[];
}

/** Asks the service why a query may find nothing. A failure only hides the reasons. */
export function EmptyNotes({ workspaceId, projectId, view, times: { from, to }, shown }: EmptyNotesProps) {
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const body = { query: view.query ?? "*", limit: 1, ...range, ...(projectId === null ? {} : { projectId }) };
  const { data } = useLoad(JSON.stringify([workspaceId, body]), async (signal) => {
    return (await authorized<{ notes: string[] }>("/logger/search", { workspaceId, body, signal })).data;
  });
  return <Notes notes={data?.notes.filter((note) => !shown.includes(note)) ?? []} />;
}
