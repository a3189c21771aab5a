import { Info, Pencil, Pin, ScrollText, Table2, Trash2 } from "lucide";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Chart } from "../../charts/chart.tsx";
import { answeredRange } from "../../charts/chart-data.ts";
import { ImageMenu } from "../../charts/image/image-menu.tsx";
import { visible } from "../../lib/visible.ts";
import type { Panel } from "../../model/boards.ts";
import { IconButton, iconButtonClass } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Popover } from "../../ui/popover.tsx";
import { tableOf } from "../explorer/search/answer-view.tsx";
import { Notes } from "../explorer/search/notes.tsx";
import { picturedReleases } from "../investigate/releases/known-changes.ts";
import { drawnReleases, type MarkedReleases } from "../investigate/releases/release-marks.tsx";
import { ArrangeHandle } from "./arrange-handle.tsx";
import { ownTimeText, panelName } from "./board-query.ts";
import css from "./panel.module.css";
import type { PanelAnswer } from "./use-answers.ts";
import type { Arranging } from "./use-arrange.ts";

interface ShownPanelProps {
  panel: Panel;
  /** Place among the panels of the same name, from 0: names of landmarks and controls must differ. */
  nameIndex: number;
  answer: PanelAnswer | undefined;
  /** Marked in a drawing over time. */
  releases: MarkedReleases;
  /** Link to the query in the explorer. */
  link: string;
  /** Shown below the answer. */
  note: string | null;
  /** Whether the page scrolls to the panel and marks it for a moment. */
  isMarked: boolean;
  /** Set while the board is arranged. */
  editing: { arrange: Arranging; isStacked: boolean; onEdit: () => void; onRemove: () => void } | null;
}

/** Milliseconds for which a panel is marked. */
const MARKED_MS = 3000;

/** One query of a board with its answer, or with why there is none. */
export function ShownPanel({ panel, nameIndex, answer, releases, link, note, isMarked, editing }: ShownPanelProps) {
  const [asTable, setAsTable] = useState(false);
  const answeredAt = useMemo(() => Date.now(), [answer]);
  const section = useRef<HTMLElement>(null);
  const [isBright, setBright] = useState(isMarked);
  const isAnswered = answer !== undefined;
  useEffect(() => {
    setBright(isMarked);
    if (!isMarked) return;
    const timer = setTimeout(() => setBright(false), MARKED_MS);
    return () => clearTimeout(timer);
  }, [isMarked]);
  // On a phone the answers above change the place of the panel.
  useEffect(() => {
    if (isBright) section.current?.scrollIntoView({ block: "center" });
  }, [isBright, isAnswered]);
  const shown = visible(panelName(panel));
  const title = nameIndex === 0 ? shown : `${shown} (${nameIndex + 1})`;
  const style = {
    gridColumn: `${panel.x + 1} / span ${panel.w}`,
    gridRow: `${panel.y + 1} / span ${panel.h}`,
  };
  const isDragged = editing?.arrange.dragged === panel.id;
  return (
    <section
      ref={section}
      class={css.panel}
      style={style}
      aria-label={title}
      data-dragged={isDragged}
      data-marked={isBright}
      data-kind={panel.kind}
    >
      <div class={css.head}>
        {editing === null ? null : (
          <ArrangeHandle panel={panel} title={title} arrange={editing.arrange} isStacked={editing.isStacked} />
        )}
        <div class={css.heading}>
          <h2 class={css.title}>{shown}</h2>
          {panel.range === undefined ? null : (
            <p class={css.own}>
              <Icon shape={Pin} size={12} /> {ownTimeText(panel.range, Date.now())}
            </p>
          )}
        </div>
        <span class={css.tools}>
          {editing === null ? (
            <>
              {answer?.ok !== true || answer.notes.length === 0 ? null : (
                <Popover
                  icon={Info}
                  iconOnly
                  look="quiet"
                  small
                  label="Notes"
                  name={`Notes on ${title}`}
                  placement="bottom-end"
                >
                  {() => <Notes notes={answer.notes} />}
                </Popover>
              )}
              {panel.kind === "table" ? null : (
                <IconButton
                  icon={Table2}
                  label="Table"
                  aria-label={`Table of ${title}`}
                  small
                  aria-pressed={asTable}
                  onClick={() => setAsTable(!asTable)}
                />
              )}
              {answer?.ok ? (
                <ImageMenu
                  label={`Image of ${title}`}
                  small
                  picture={() => ({
                    ...{ title, table: tableOf(answer), query: panel.query, kind: asTable ? "table" : panel.kind },
                    range: answeredRange(answer.range, answeredAt),
                    releases: picturedReleases(releases.scope, releases.releases),
                    isEach: false,
                  })}
                />
              ) : null}
              <a class={iconButtonClass("quiet", true)} href={link} aria-label={`Logs of ${title}`} data-tooltip="Logs">
                <Icon shape={ScrollText} />
              </a>
            </>
          ) : (
            <>
              <IconButton icon={Pencil} label="Edit" aria-label={`Edit ${title}`} small onClick={editing.onEdit} />
              <IconButton
                icon={Trash2}
                label="Remove"
                aria-label={`Remove ${title}`}
                small
                onClick={editing.onRemove}
              />
            </>
          )}
        </span>
      </div>
      <div class={css.content}>
        <Content
          panel={asTable ? { ...panel, kind: "table" } : panel}
          title={title}
          answer={answer}
          answeredAt={answeredAt}
          // A mark opens links, and to follow one would lose the changes of the board.
          releases={editing === null ? releases : { ...releases, releases: [], onZoom: undefined }}
        />
      </div>
      {note === null ? null : <p class={css.note}>{visible(note)}</p>}
      {editing === null ? null : (
        <button
          type="button"
          class={css.corner}
          aria-label={`Resize ${title}`}
          title="Drag, or arrow keys"
          {...editing.arrange.handle(panel, "size")}
        />
      )}
    </section>
  );
}

interface ContentProps extends Pick<ShownPanelProps, "panel" | "answer" | "releases"> {
  title: string;
  answeredAt: number;
}

function Content({ panel: { query, kind }, title, answer, answeredAt, releases }: ContentProps) {
  const { onZoom } = releases;
  const zoom = onZoom === undefined ? undefined : { onZoom };
  const overlay = { threshold: null, marks: [], releases: drawnReleases(releases, false), zoom };
  if (answer === undefined) return <p class={css.pending} aria-hidden="true" />;
  if (!answer.ok) {
    const { message, details } = answer.error;
    return (
      <p class={css.error} role="alert">
        {details[0]?.message ?? message}
      </p>
    );
  }
  const range = answeredRange(answer.range, answeredAt);
  return (
    <>
      <Chart table={tableOf(answer)} query={query} kind={kind} range={range} title={title} overlay={overlay} />
      {answer.complete ? null : <p class={css.partial}>Older entries are missing</p>}
    </>
  );
}
