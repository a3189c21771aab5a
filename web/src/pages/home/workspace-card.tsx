import { useRef, useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import { reasonAgainst } from "../../model/roles.ts";
import { ERRORS, type Project, type Workspace } from "../../model/types.ts";
import { loadProjects } from "../../model/workspaces.ts";
import { authorized } from "../../session/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { FirstSteps } from "./first-steps.tsx";
import css from "./home.module.css";

const COUNT = new Intl.NumberFormat();
/** Projects shown on a card. The settings list all of them. */
const LISTED = 8;

interface WorkspaceCardProps {
  workspace: Workspace;
  isOpen: boolean;
  /** The load of its projects that has begun already. */
  first: Promise<Project[]> | undefined;
}

/** A workspace with its projects. */
export function WorkspaceCard({ workspace, isOpen, first }: WorkspaceCardProps) {
  const [showsProjects, setShowsProjects] = useState(isOpen);
  const base = `/w/${workspace.id}`;
  return (
    <Card>
      <div class={css.head}>
        <div class={css.name}>
          <h2>{workspace.name}</h2>
          <Badge>{workspace.role}</Badge>
          {workspace.personal ? <Badge>personal</Badge> : null}
        </div>
        <Row>
          <a class={buttonClass("plain", true)} href={`${base}/overview`}>
            Overview<span class="visually-hidden"> of {workspace.name}</span>
          </a>
          <a class={buttonClass("plain", true)} href={base}>
            Logs<span class="visually-hidden"> of {workspace.name}</span>
          </a>
          <a class={buttonClass("plain", true)} href={`${base}/settings`}>
            Settings<span class="visually-hidden"> of {workspace.name}</span>
          </a>
        </Row>
      </div>
      {showsProjects ? (
        <Projects workspace={workspace} first={first} />
      ) : (
        <Row>
          <Button small onClick={() => setShowsProjects(true)}>
            Show projects
          </Button>
        </Row>
      )}
    </Card>
  );
}

function Projects({ workspace, first }: Omit<WorkspaceCardProps, "isOpen">) {
  const begun = useRef(first);
  const { data, failure, reload } = useLoad(workspace.id, (signal) => {
    const load = begun.current ?? loadProjects(workspace.id, signal);
    // A reload is one of its own.
    begun.current = undefined;
    return load;
  });
  if (failure) return <Failure failure={failure} onRetry={reload} />;
  if (data === null) return <Loading />;
  return data.length === 0 ? (
    <FirstSteps workspace={workspace} />
  ) : (
    <ProjectLinks workspace={workspace} projects={data} />
  );
}

function ProjectLinks({ workspace, projects }: { workspace: Workspace; projects: readonly Project[] }) {
  const rest = projects.length - LISTED;
  const maySend = reasonAgainst(workspace.role, "project.create") === null;
  return (
    <>
      <Items label={`Projects of ${workspace.name}`}>
        {projects.slice(0, LISTED).map(({ id, name, lastSeq }) => (
          <Item
            key={id}
            title={<a href={`/w/${workspace.id}/p/${id}`}>{name}</a>}
            actions={
              <>
                <span class={css.count}>
                  {COUNT.format(lastSeq)} {lastSeq === 1 ? "entry" : "entries"}
                </span>
                {lastSeq === 0 && maySend ? (
                  <a class={buttonClass("plain", true)} href={`/w/${workspace.id}/start?project=${id}`}>
                    Send the first entry<span class="visually-hidden"> of {name}</span>
                  </a>
                ) : null}
              </>
            }
          />
        ))}
      </Items>
      {rest > 0 ? <a href={`/w/${workspace.id}/settings/projects`}>{COUNT.format(rest)} more</a> : null}
      {projects.some(({ lastSeq }) => lastSeq > 0) ? <ErrorsOfDay workspaceId={workspace.id} /> : null}
    </>
  );
}

/** The number of errors of the last day, which leads to them. A failure only hides it. */
function ErrorsOfDay({ workspaceId }: { workspaceId: string }) {
  const { data: found } = useLoad(workspaceId, async (signal) => {
    const body = { query: `${ERRORS} time:24h | count` };
    const { data } = await authorized<{ rows: unknown[][]; complete: boolean }>("/logger/search", {
      workspaceId,
      body,
      signal,
    });
    return { count: Number(data.rows[0]?.[0] ?? 0), isExact: data.complete };
  });
  if (found === null) return null;
  const { count, isExact } = found;
  if (count === 0 && !isExact) return null;
  return count === 0 ? (
    <span class={css.count}>No errors in the last 24 hours</span>
  ) : (
    <a class={css.errors} href={`/w/${workspaceId}?q=${encodeURIComponent(ERRORS)}`}>
      {isExact ? "" : "At least "}
      {COUNT.format(count)} {count === 1 ? "error" : "errors"} in the last 24 hours
    </a>
  );
}
