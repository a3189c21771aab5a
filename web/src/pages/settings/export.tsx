import { Download } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type ApiFailure, failureOf } from "../../api/failure.ts";
import { useLoad } from "../../lib/load.ts";
import type { Workspace } from "../../model/types.ts";
import { loadProjects } from "../../model/workspaces.ts";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { openSink } from "../explorer/actions/sinks.ts";
import { TimeRange } from "../explorer/toolbar/time-range.tsx";
import { timesOf } from "../explorer/view/range.ts";
import css from "./export.module.css";
import { type ExportChoice, exportParameters, readChoice } from "./export-choice.ts";
import { type Manifest, verifyCommand } from "./export-manifest.ts";
import { type Exported, type ExportResult, runExport } from "./export-run.ts";
import { Section } from "./section.tsx";
import { sizeOf } from "./usage.tsx";

const COUNT = new Intl.NumberFormat();
const FORMATS = [
  { value: "ndjson", label: "NDJSON: one JSON object per line" },
  { value: "parquet", label: "Parquet: columns, for DuckDB or Spark" },
] as const;

type Phase =
  | { kind: "ready" }
  | { kind: "running"; bytes: number }
  | { kind: "done"; file: string; exported: Exported; result: ExportResult }
  | { kind: "failed"; failure: ApiFailure };

/** Writes all entries of a project to a file. The choice is in the address, so that a link opens the same export. */
export function ExportSection({ workspace }: { workspace: Workspace }) {
  const { query, route } = useLocation();
  const { data: projects, failure, reload } = useLoad(workspace.id, (signal) => loadProjects(workspace.id, signal));
  const projectId = projects?.find(({ id }) => id === query.project)?.id ?? projects?.[0]?.id ?? null;
  const choice = readChoice(query);
  const change = (patch: Partial<ExportChoice>, project = projectId): void => {
    const parameters = exportParameters({ ...choice, ...patch });
    if (project !== null) parameters.set("project", project);
    route(`/w/${workspace.id}/settings/export?${parameters}`, true);
  };
  return (
    <Section
      title="Export"
      intro="All entries of a project in order of seq, each once. The end of the file states their number and SHA-256."
    >
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {projects === null && failure === null ? <Loading /> : null}
      {projects?.length === 0 ? <Empty title="No projects yet" /> : null}
      {projects && projectId !== null ? (
        <Card>
          <Field label="Project">
            {(props) => (
              <Select
                {...props}
                value={projectId}
                options={projects.map(({ id, name }) => ({ value: id, label: name }))}
                onChange={(id) => change({}, id)}
              />
            )}
          </Field>
          <Field label="Format">
            {(props) => (
              <Select
                {...props}
                value={choice.format}
                options={FORMATS}
                onChange={(format) => change({ format: format === "parquet" ? "parquet" : "ndjson" })}
              />
            )}
          </Field>
          <div class={css.time}>
            <span>Time of the entries</span>
            <TimeRange
              range={choice.range}
              times={timesOf(choice.range, Date.now(), workspace.retentionDays)}
              onChange={(range) => change({ range })}
            />
          </div>
          <Run workspaceId={workspace.id} projectId={projectId} choice={choice} />
        </Card>
      ) : null}
    </Section>
  );
}

function Run({ workspaceId, projectId, choice }: { workspaceId: string; projectId: string; choice: ExportChoice }) {
  const [phase, setPhase] = useState<Phase>({ kind: "ready" });
  const work = useRef<AbortController | null>(null);
  useEffect(() => () => work.current?.abort(), []);
  const { range } = choice;
  const isWrong = range.kind === "between" && range.from !== null && range.to !== null && range.from >= range.to;

  // A relative range is resolved once: the rest has the times of the first file.
  const chosen = (): Exported => {
    const { from, to } = timesOf(range, Date.now(), 0);
    const times = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    return { workspaceId, projectId, format: choice.format, times };
  };

  async function start(exported: Exported, afterSeq: number): Promise<void> {
    const file = [exported.projectId, ...(afterSeq === 0 ? [] : [afterSeq]), exported.format].join(".");
    const sink = await openSink(file);
    if (sink === null) return;
    const controller = new AbortController();
    work.current = controller;
    const show = (next: Phase): void => {
      if (!controller.signal.aborted) setPhase(next);
    };
    show({ kind: "running", bytes: 0 });
    try {
      const onProgress = (bytes: number): void => show({ kind: "running", bytes });
      const { signal } = controller;
      const result = await runExport({ ...exported, afterSeq, sink, onProgress, signal });
      show({ kind: "done", file, exported, result });
    } catch (error) {
      show({ kind: "failed", failure: failureOf(error) });
    }
  }

  if (phase.kind === "running") {
    return (
      <>
        <progress aria-label="Export" />
        <p role="status">{sizeOf(phase.bytes)} …</p>
        <Row>
          <Button
            onClick={() => {
              work.current?.abort();
              setPhase({ kind: "ready" });
            }}
          >
            Cancel
          </Button>
        </Row>
      </>
    );
  }
  const rest = phase.kind === "done" && hasRest(phase.result.end.manifest) ? phase : null;
  return (
    <>
      {isWrong ? <p role="alert">The end must be after the start.</p> : null}
      {phase.kind === "done" ? <Done {...phase} /> : null}
      {phase.kind === "failed" ? (
        <>
          <p>No file was written.</p>
          <Failure failure={phase.failure} />
        </>
      ) : null}
      <Row>
        {rest === null ? null : (
          <Button look="primary" icon={Download} onClick={() => start(rest.exported, rest.result.end.manifest.through)}>
            Export the rest
          </Button>
        )}
        <Button
          look={rest === null ? "primary" : "plain"}
          icon={Download}
          disabled={isWrong}
          onClick={() => start(chosen(), 0)}
        >
          Export
        </Button>
      </Row>
    </>
  );
}

/** What the file has, and how to verify it: the command must print the SHA-256 of the manifest. */
function Done({ file, result: { bytes, end } }: { file: string; result: ExportResult }) {
  const { count, through, unreadable, missing, sha256 } = end.manifest;
  const command = verifyCommand(file, bytes, end);
  return (
    <div role="status" class={css.done}>
      <p>
        Done: {sizeOf(bytes)}, {COUNT.format(count)} entries.
      </p>
      {hasRest(end.manifest) ? (
        <p role="alert" class={css.lacking}>
          The file ends at seq {COUNT.format(through)}, which is as much as one request may read. Export the rest to a
          second file.
        </p>
      ) : null}
      {unreadable === 0 ? null : (
        <p role="alert" class={css.lacking}>
          {COUNT.format(unreadable)} entries could not be read: the file lacks them.
        </p>
      )}
      {missing === 0 ? null : (
        <p role="alert" class={css.lacking}>
          {COUNT.format(missing)} entries are missing: the service has lost them, and its operator can recover them.
        </p>
      )}
      <p>
        SHA-256 of the entries: <code>{sha256}</code>
      </p>
      <p>
        To verify the file, compare it with the output of <code>{command}</code>{" "}
        <Copy text={command} label="Copy command" />
      </p>
    </div>
  );
}

function hasRest({ through, until }: Manifest): boolean {
  return through < until;
}
