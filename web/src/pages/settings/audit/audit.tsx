import { useLocation } from "preact-iso";
import { may } from "../../../../../src/workspace/permissions.ts";
import { usePages } from "../../../lib/pages.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import type { AuditItem, Workspace } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/page.tsx";
import { ShowOlder } from "../../../ui/show-older.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { RoleNote, Section } from "../section.tsx";
import { type AuditFilters, Filters, isTargetId } from "./filters.tsx";
import { AuditList } from "./list.tsx";
import { namesOf } from "./names.ts";

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
  const { query, path, route } = useLocation();
  const { actor = "", action = "", target = "", search = "" } = query;
  const wanted: AuditFilters = { actor, action, target: isTargetId(target) ? target : "", search };
  const setWanted = (next: AuditFilters): void => {
    const params = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== ""));
    route(params.size === 0 ? path : `${path}?${params}`, true);
  };
  const key = `${workspaceId} ${Object.values(wanted).join(" ")}`;
  const { items, busy, failure, reload, more } = usePages<AuditItem>(key, PAGE_SIZE, (query) => {
    for (const [name, value] of Object.entries(wanted)) if (value !== "") query.set(name, value);
    return `/workspaces/${workspaceId}/audit?${query}`;
  });
  const names = namesOf(items ?? []);
  return (
    <Section
      title="Audit"
      intro={INTRO}
      actions={
        <Button busy={busy} onClick={reload}>
          Refresh
        </Button>
      }
    >
      <Filters workspaceId={workspaceId} wanted={wanted} onWanted={setWanted} />
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {items === null ? (
        failure ? null : (
          <Loading />
        )
      ) : items.length === 0 && more === null ? (
        <Empty title="No results">
          <p>No matching items in the last 365 days.</p>
        </Empty>
      ) : (
        <Card>
          {items.length === 0 ? <p>No matching items so far.</p> : <AuditList items={items} names={names} />}
          <ShowOlder more={more} />
        </Card>
      )}
    </Section>
  );
}
