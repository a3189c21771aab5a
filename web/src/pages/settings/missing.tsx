import { useLocation } from "preact-iso";
import { useLoad } from "../../lib/load.ts";
import { usePages } from "../../lib/pages.ts";
import type { Workspace } from "../../model/types.ts";
import { loadProjects } from "../../model/workspaces.ts";
import { Field } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Select } from "../../ui/select.tsx";
import { ShowOlder } from "../../ui/show-older.tsx";
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
  const pathOf = (query: URLSearchParams): string => {
    query.set("from", String(Date.now() - SPAN_MS));
    return `/projects/${projectId}/ledger?${query}`;
  };
  const { items, failure, reload, more } = usePages<LedgerItem>(projectId, PAGE_SIZE, pathOf, workspaceId);
  const name = useNames(
    workspaceId,
    (items ?? []).map(({ keyId }) => `key:${keyId}`),
  );
  if (failure) return <Failure failure={failure} onRetry={reload} />;
  if (items === null) return <Loading />;
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
      <ShowOlder more={more} />
    </Card>
  );
}
