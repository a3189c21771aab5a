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
import { type ExportChoice, exportParameters, readChoice, verifyCommand } from "./export-choice.ts";
import { type ExportResult, runExport } from "./export-run.ts";
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
  | { kind: "done"; result: ExportResult }
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
          <Row>
            {(["from", "to"] as const).map((end) => (
              <Field key={end} label={end === "from" ? "From (optional)" : "To (optional)"}>
                {(props) => (
                  <input
                    {...props}
                    type="datetime-local"
                    value={choice[end]}
                    onChange={({ currentTarget: { value } }) => change({ [end]: value })}
                  />
                )}
              </Field>
            ))}
          </Row>
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
  const isWrong = choice.from !== "" && choice.to !== "" && Date.parse(choice.from) >= Date.parse(choice.to);

  async function start(): Promise<void> {
    const sink = await openSink(`${projectId}.${choice.format}`);
    if (sink === null) return;
    const controller = new AbortController();
    work.current = controller;
    const show = (next: Phase): void => {
      if (!controller.signal.aborted) setPhase(next);
    };
    show({ kind: "running", bytes: 0 });
    try {
      const onProgress = (bytes: number): void => show({ kind: "running", bytes });
      const result = await runExport({ workspaceId, projectId, choice, sink, onProgress, signal: controller.signal });
      show({ kind: "done", result });
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
  return (
    <>
      {isWrong ? <p role="alert">The end must be after the start.</p> : null}
      {phase.kind === "done" ? <Done projectId={projectId} result={phase.result} /> : null}
      {phase.kind === "failed" ? (
        <>
          <p>No file was written.</p>
          <Failure failure={phase.failure} />
        </>
      ) : null}
      <Row>
        <Button look="primary" icon={Download} disabled={isWrong} onClick={start}>
          Export
        </Button>
      </Row>
    </>
  );
}

function Done({ projectId, result: { bytes, manifest } }: { projectId: string; result: ExportResult }) {
  return (
    <div role="status">
      <p>
        Done: {sizeOf(bytes)}
        {manifest === null ? "" : `, ${COUNT.format(manifest.count)} entries`}.
      </p>
      {manifest === null ? null : <Verify command={verifyCommand(`${projectId}.ndjson`)} sha256={manifest.sha256} />}
      {manifest?.complete === false ? <p role="alert">Some entries could not be read: the file lacks them.</p> : null}
    </div>
  );
}

/** How to verify the file: the command must print the SHA-256 of the manifest. */
function Verify({ command, sha256 }: { command: string; sha256: string }) {
  return (
    <>
      <p>
        SHA-256 of the entries: <code>{sha256}</code>
      </p>
      <p>
        To verify the file, compare it with the output of <code>{command}</code>{" "}
        <Copy text={command} label="Copy command" />
      </p>
    </>
  );
}
