import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import type { Page, Workspace } from "../../model/types.ts";
import { loadProjects } from "../../model/workspaces.ts";
import { authorized } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Select } from "../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { useNames } from "./caller-names.ts";
import { Section } from "./section.tsx";

const COUNT = new Intl.NumberFormat();
const PAGE_SIZE = 50;
/** How far back the ledger goes. */
const SPAN_MS = 30 * 24 * 60 * 60 * 1000;

/** A row of the ledger. */
interface LedgerItem {
  at: string;
  reason: string;
  entries: number;
  keyId: string;
  requests: number | null;
  gap: { stream: string; first: number; beforeSeq: number; open: boolean } | null;
}

const REASONS: Readonly<Record<string, string>> = {
  merged: "Sent again, stored once",
  rejected: "Not valid",
  limited: "Beyond the rate limit; most clients send these again",
  full: "The storage was full",
  "queue-full": "Dropped by the client: its queue was full",
  closed: "Dropped by the client: its logger was closed",
  retries: "Given up by the client after its retries",
  "too-large": "Larger than an entry may be",
  unknown: "Never arrived",
};

/** Entries of a project, which the address identifies, that should be there and are not. */
export function MissingEntries({ workspace }: { workspace: Workspace }) {
  const { query, route } = useLocation();
  const { data: projects, failure, reload } = useLoad(workspace.id, (signal) => loadProjects(workspace.id, signal));
  const project = projects?.find(({ id }) => id === query.project) ?? projects?.[0];
  const base = `/w/${workspace.id}/settings/missing`;
  return (
    <Section
      title="Missing entries"
      intro="Entries that were sent and are not stored, and entries of the client library that never arrived. Kept for 30 days."
    >
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {projects === null && failure === null ? <Loading /> : null}
      {projects?.length === 0 ? <Empty title="No projects yet" /> : null}
      {projects && project ? (
        <>
          <Field label="Project">
            {(props) => (
              <Select
                {...props}
                value={project.id}
                options={projects.map(({ id, name }) => ({ value: id, label: name }))}
                onChange={(id) => route(`${base}?project=${id}`, true)}
              />
            )}
          </Field>
          <Ledger key={project.id} workspaceId={workspace.id} projectId={project.id} />
        </>
      ) : null}
    </Section>
  );
}

function Ledger({ workspaceId, projectId }: { workspaceId: string; projectId: string }) {
  const [older, setOlder] = useState<readonly Page<LedgerItem>[]>([]);
  const pageAt = async (cursor: string | null, signal?: AbortSignal): Promise<Page<LedgerItem>> => {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), from: String(Date.now() - SPAN_MS) });
    if (cursor !== null) query.set("cursor", cursor);
    const path = `/projects/${projectId}/ledger?${query}`;
    return (await authorized<Page<LedgerItem>>(path, { workspaceId, ...(signal ? { signal } : {}) })).data;
  };
  const first = useLoad(projectId, (signal) => {
    setOlder([]);
    return pageAt(null, signal);
  });
  const pages = first.data === null ? [] : [first.data, ...older];
  const items = pages.flatMap((page) => page.items);
  const next = pages.at(-1)?.nextCursor ?? null;
  const more = useAction(async () => {
    const page = await pageAt(next);
    setOlder((before) => [...before, page]);
  });
  const name = useNames(
    workspaceId,
    items.map(({ keyId }) => `key:${keyId}`),
  );
  if (first.failure) return <Failure failure={first.failure} onRetry={first.reload} />;
  if (first.data === null) return <Loading />;
  if (items.length === 0) {
    return (
      <Empty title="Nothing is missing">
        <p>No entry is known to be missing in the last 30 days.</p>
      </Empty>
    );
  }
  return (
    <Card>
      <ScrollBox label="Missing entries, newest first">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Entries</th>
              <th scope="col">Reason</th>
              <th scope="col">Sent by</th>
              <th scope="col">Where</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ at, entries, reason, keyId, requests, gap }) => (
              <tr key={`${at} ${keyId} ${reason} ${gap?.stream} ${gap?.first}`}>
                <td>
                  <Time at={at} />
                </td>
                <td>{COUNT.format(entries)}</td>
                <td>{REASONS[reason] ?? reason}</td>
                <td>{name(`key:${keyId}`)}</td>
                <td>
                  {gap === null
                    ? `${COUNT.format(requests ?? 0)} requests in this hour`
                    : `Before seq ${COUNT.format(gap.beforeSeq)}${gap.open ? "; may still arrive" : ""}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
      {more.failure ? <Failure failure={more.failure} onRetry={() => void more.run()} isRepeated={false} /> : null}
      {next === null ? null : (
        <Row>
          <Button busy={more.busy} onClick={() => void more.run()}>
            Show older
          </Button>
        </Row>
      )}
    </Card>
  );
}
