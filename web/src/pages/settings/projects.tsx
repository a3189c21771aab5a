import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import { usePoll } from "../../lib/poll.ts";
import { dropKept } from "../../model/kept-key.ts";
import { ableTo, reasonAgainst } from "../../model/roles.ts";
import type { Project, Workspace } from "../../model/types.ts";
import { loadProjects } from "../../model/workspaces.ts";
import { authorized } from "../../session/session.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { NameDialog } from "../../ui/name-dialog.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toasts.tsx";
import { RoleNote, Section } from "./section.tsx";

const NOTE = "projects-note";
const NAME_HINT = "For example the name of an application.";
const COUNT = new Intl.NumberFormat();
/** Milliseconds between two updates of the entry counts. */
const REFRESH_MS = 5000;

type Asked = { kind: "create" } | { kind: "rename" | "delete"; project: Project };

export function Projects({ workspace }: { workspace: Workspace }) {
  const loaded = useLoad(workspace.id, (signal) => loadProjects(workspace.id, signal));
  const { data: projects, failure, reload } = loaded;
  usePoll(() => {
    if (failure === null) loaded.refresh();
  }, REFRESH_MS);
  const [asked, setAsked] = useState<Asked | null>(null);
  const reason = reasonAgainst(workspace.role, "project.create");
  const locked = { disabled: reason !== null, "aria-describedby": reason === null ? undefined : NOTE };
  const mayMakeKeys = reasonAgainst(workspace.role, "key.create") === null;
  const done = (text: string, link?: { href: string; label: string }): void => {
    setAsked(null);
    toast(text, "good", link);
    reload();
  };
  return (
    <Section
      title="Projects"
      intro="Each entry and each API key belongs to one project."
      actions={
        <Button look="primary" {...locked} onClick={() => setAsked({ kind: "create" })}>
          Create project
        </Button>
      }
    >
      <RoleNote id={NOTE} reason={reason} />
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {projects === null ? (
        failure ? null : (
          <Loading />
        )
      ) : projects.length === 0 ? (
        <Empty title="No projects yet">
          {reason === null ? (
            <p>
              Create a project, then {mayMakeKeys ? "create an API key" : `ask ${ableTo("key.create")} for an API key`}{" "}
              to send entries.
            </p>
          ) : (
            <p>Ask {ableTo("project.create")} to create one.</p>
          )}
        </Empty>
      ) : (
        <Card>
          <Items label="Projects">
            {projects.map((project) => (
              <Item
                key={project.id}
                title={<a href={`/w/${workspace.id}/p/${project.id}`}>{project.name}</a>}
                facts={[
                  ["Entries", COUNT.format(project.lastSeq)],
                  ["Created", <Time at={project.createdAt} />],
                  ["ID", <code>{project.id}</code>],
                ]}
                actions={
                  <>
                    <a
                      class={buttonClass("plain", true)}
                      href={`/w/${workspace.id}/settings/keys?project=${project.id}`}
                    >
                      Keys<span class="visually-hidden"> of {project.name}</span>
                    </a>
                    <Button small {...locked} onClick={() => setAsked({ kind: "rename", project })}>
                      Rename<span class="visually-hidden"> {project.name}</span>
                    </Button>
                    <Button small look="danger" {...locked} onClick={() => setAsked({ kind: "delete", project })}>
                      Delete<span class="visually-hidden"> {project.name}</span>
                    </Button>
                  </>
                }
              />
            ))}
          </Items>
        </Card>
      )}
      {asked?.kind === "create" ? (
        <NameDialog
          hint={NAME_HINT}
          title="Create project"
          action="Create"
          onSave={async (name) => {
            const { data } = await authorized<Project>("/projects", { workspaceId: workspace.id, body: { name } });
            if (mayMakeKeys) {
              const href = `/w/${workspace.id}/settings/keys?project=${data.id}`;
              done(`Created ${name}.`, { href, label: "Create an API key" });
            } else done(`Created ${name}. Ask ${ableTo("key.create")} for an API key.`);
          }}
          onClose={() => setAsked(null)}
        />
      ) : null}
      {asked?.kind === "rename" ? (
        <NameDialog
          hint={NAME_HINT}
          title={`Rename ${asked.project.name}`}
          action="Rename"
          name={asked.project.name}
          onSave={async (name) => {
            await authorized(`/projects/${asked.project.id}`, {
              method: "PATCH",
              workspaceId: workspace.id,
              body: { name },
            });
            done("Project renamed.");
          }}
          onClose={() => setAsked(null)}
        />
      ) : null}
      {asked?.kind === "delete" ? (
        <Confirm
          title={`Delete ${asked.project.name}?`}
          action="Delete project"
          typed={asked.project.name}
          onConfirm={async () => {
            await authorized(`/projects/${asked.project.id}`, { method: "DELETE", workspaceId: workspace.id });
            dropKept(asked.project.id);
            done(`Deleted ${asked.project.name}.`);
          }}
          onClose={() => setAsked(null)}
        >
          <p>
            Permanently deletes <strong>{asked.project.name}</strong> with all its entries and API keys. This cannot be
            undone.
          </p>
        </Confirm>
      ) : null}
    </Section>
  );
}
