import { useEffect, useState } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import type { RateLimits, Workspace } from "../../../model/types.ts";
import { authorized, user } from "../../../session/session.ts";
import { Failure, Loading } from "../../../ui/states.tsx";
import { RoleNote, Section } from "../section.tsx";
import { configurationOf, draftOf } from "./draft.ts";
import { type Edited, keepEdited, readEdited } from "./draft-storage.ts";
import { LimitEditor } from "./editor.tsx";
import { Explain } from "./explain.tsx";
import { LiveCounters } from "./live.tsx";

const NOTE = "limits-note";

/** Limits of a workspace: configuration, draft and current counters. */
export function Limits({ workspace }: { workspace: Workspace }) {
  const path = `/workspaces/${workspace.id}/rate-limits`;
  const { data, failure, reload, refresh, put } = useLoad(
    path,
    async (signal) => (await authorized<RateLimits>(path, { signal })).data,
  );
  const userId = user.value?.id ?? "";
  const [edited, setEdited] = useState<Edited | null>(() => readEdited(userId, workspace.id));
  const edit = (next: Edited): void => {
    setEdited(next);
    keepEdited(userId, workspace.id, next);
  };
  const begin = ({ default: rest, rules }: RateLimits): void => {
    const base = { default: rest, rules };
    edit({ base, draft: draftOf(base) });
  };
  useEffect(() => {
    // Later responses only update counters; the draft stays.
    if (data && edited === null) begin(data);
  }, [data, edited]);
  const reason = reasonAgainst(workspace.role, "limits.set");
  return (
    <Section
      title="Limits"
      intro={
        <>
          How many requests each API key and each member may make. Those beyond are{" "}
          <a href={`/w/${workspace.id}/settings/violations`}>refused</a> until the time is over.
        </>
      }
    >
      <RoleNote id={NOTE} reason={reason} />
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null || edited === null ? (
        failure ? null : (
          <Loading />
        )
      ) : (
        <>
          <LimitEditor
            path={path}
            current={data}
            base={edited.base}
            draft={edited.draft}
            describedBy={reason === null ? undefined : NOTE}
            onDraft={(draft) => edit({ ...edited, draft })}
            onLoaded={put}
            onSaved={(saved) => {
              put(saved);
              begin(saved);
            }}
          />
          <Explain workspaceId={workspace.id} current={data} configuration={configurationOf(edited.draft)} />
          <LiveCounters workspaceId={workspace.id} live={data.live} failure={failure} onRefresh={refresh} />
        </>
      )}
    </Section>
  );
}
