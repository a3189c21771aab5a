import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiFailure, failureOf } from "../../../api/failure.ts";
import { user } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Row } from "../../../ui/page.tsx";
import { Failure } from "../../../ui/states.tsx";
import { exportParameters } from "../../settings/export-choice.ts";
import { queryLogs } from "../query.ts";
import { entries, number } from "../view/format.ts";
import type { Range } from "../view/range.ts";
import css from "./actions.module.css";
import type { QueryRequest } from "./curl.ts";
import { download, type Progress } from "./download.ts";
import { openSink } from "./sinks.ts";

type Phase =
  | { kind: "ready" }
  | { kind: "running"; progress: Progress }
  | { kind: "done"; entries: number }
  | { kind: "failed"; failure: ApiFailure };

interface DownloadDialogProps {
  workspaceId: string;
  request: QueryRequest;
  /** Of the view. */
  range: Range;
  /** Number of matching entries; `null` if unknown. */
  expected: number | null;
  onClose: () => void;
}

/** Downloads all entries that match the view, not only the loaded ones. Closing the dialog cancels the download. */
export function DownloadDialog({ workspaceId, request, range, expected, onClose }: DownloadDialogProps) {
  const { projectId } = request;
  const parameters = exportParameters({ format: "parquet", range });
  if (projectId !== undefined) parameters.set("project", projectId);
  const exportLink = `/w/${workspaceId}/settings/export?${parameters}`;
  const [phase, setPhase] = useState<Phase>({ kind: "ready" });
  const work = useRef<AbortController | null>(null);
  useEffect(() => () => work.current?.abort(), []);

  async function start(): Promise<void> {
    const sink = await openSink(fileName(new Date()));
    if (sink === null) return;
    const controller = new AbortController();
    work.current = controller;
    const { signal } = controller;
    const show = (next: Phase): void => {
      if (!signal.aborted) setPhase(next);
    };
    show({ kind: "running", progress: { entries: 0, waiting: null } });
    try {
      const count = await download({
        request,
        sink,
        ask: (request) => queryLogs(workspaceId, request, signal),
        onProgress: (progress) => show({ kind: "running", progress }),
        sleep: (seconds) => sleep(seconds, signal),
      });
      show({ kind: "done", entries: count });
    } catch (error) {
      show({ kind: "failed", failure: failureOf(error) });
    }
  }

  const cancel = (): void => {
    work.current?.abort();
    setPhase({ kind: "ready" });
  };
  return (
    <Dialog title="Download as NDJSON" onClose={onClose} closeOnBackdrop={phase.kind !== "running"}>
      {phase.kind === "ready" ? (
        <>
          <p>
            All entries that match the current filters and time range
            {expected === null ? "" : `, ${entries(expected)}`}, as one JSON object per line.
          </p>
          {user.value === null ? null : (
            <p class={css.hint}>
              All entries of a project in this time, without the query and also as Parquet:{" "}
              <a href={exportLink}>Export</a>
            </p>
          )}
          <Row>
            <Button look="primary" onClick={start}>
              Download
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </Row>
        </>
      ) : null}
      {phase.kind === "running" ? (
        <>
          <progress
            aria-label="Download"
            {...(expected === null
              ? {}
              : { max: Math.max(expected, phase.progress.entries, 1), value: phase.progress.entries })}
          />
          <p role="status">
            {number(phase.progress.entries)}
            {expected === null ? "" : ` of about ${number(expected)}`} entries
            {phase.progress.waiting === null
              ? " …"
              : `. Rate limit reached, continuing in ${phase.progress.waiting} s.`}
          </p>
          <Row>
            <Button onClick={cancel}>Cancel</Button>
          </Row>
        </>
      ) : null}
      {phase.kind === "done" ? (
        <>
          <p role="status">Done: {entries(phase.entries)}.</p>
          <Row>
            <Button look="primary" onClick={onClose}>
              Close
            </Button>
          </Row>
        </>
      ) : null}
      {phase.kind === "failed" ? (
        <>
          <p>No file was written.</p>
          <Failure failure={phase.failure} onRetry={start} isRepeated={false} />
        </>
      ) : null}
    </Dialog>
  );
}

function fileName(now: Date): string {
  return `taffrail-${now.toISOString().slice(0, 19).replaceAll(":", "")}.ndjson`;
}

function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
