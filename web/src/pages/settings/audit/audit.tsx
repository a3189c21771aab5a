import { useState } from "preact/hooks";
import { may } from "../../../../../src/workspace/permissions.ts";
import { useAction } from "../../../lib/action.ts";
import { useLoad } from "../../../lib/load.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import type { AuditItem, Page, Workspace } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Card, Row } from "../../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { RoleNote, Section } from "../section.tsx";
import { type AuditFilters, Filters, NO_FILTERS } from "./filters.tsx";
import { AuditList } from "./list.tsx";

const PAGE_SIZE = 50;

const INTRO = `Changes and sign-ins in this workspace, newest first. Kept for 365 days.`;

export function Audit({ workspace }: { workspace: Workspace }) {
  if (may(workspace.role, "audit.list")) return <AuditSection workspaceId={workspace.id} />;
  return (
    <Section title="Audit" intro={INTRO}>
      <RoleNote id="audit-role" reason={reasonAgainst(workspace.role, "audit.list")} />
    </Section>
  );
}

function AuditSection({ workspaceId }: { workspaceId: string }) {
  const [wanted, setWanted] = useState<AuditFilters>(NO_FILTERS);
  const [older, setOlder] = useState<readonly Page<AuditItem>[]>([]);
  const pageAt = async (cursor: string | null, signal?: AbortSignal): Promise<Page<AuditItem>> => {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor === null ? {} : { cursor }) });
    for (const [name, value] of Object.entries(wanted)) if (value !== "") query.set(name, value);
    const path = `/workspaces/${workspaceId}/audit?${query}`;
    return (await authorized<Page<AuditItem>>(path, signal ? { signal } : {})).data;
  };
  const first = useLoad(`${workspaceId} ${Object.values(wanted).join(" ")}`, (signal) => {
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
  return (
    <Section
      title="Audit"
      intro={INTRO}
      actions={
        <Button busy={first.busy} onClick={first.reload}>
          Refresh
        </Button>
      }
    >
      <Filters workspaceId={workspaceId} wanted={wanted} onWanted={setWanted} />
      {first.failure ? <Failure failure={first.failure} onRetry={first.reload} /> : null}
      {first.data === null ? (
        first.failure ? null : (
          <Loading />
        )
      ) : items.length === 0 && next === null ? (
        <Empty title="No results">
          <p>No matching items in the last 365 days.</p>
        </Empty>
      ) : (
        <Card>
          {items.length === 0 ? <p>No matching items so far.</p> : <AuditList items={items} />}
          {more.failure ? <Failure failure={more.failure} onRetry={() => void more.run()} isRepeated={false} /> : null}
          {next === null ? null : (
            <Row>
              <Button busy={more.busy} onClick={() => void more.run()}>
                Show older
              </Button>
            </Row>
          )}
        </Card>
      )}
    </Section>
  );
}
