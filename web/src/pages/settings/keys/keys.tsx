import { useLocation } from "preact-iso";
import { useLoad } from "../../../lib/load.ts";
import { ableTo, reasonAgainst } from "../../../model/roles.ts";
import type { Workspace } from "../../../model/types.ts";
import { loadProjects } from "../../../model/workspaces.ts";
import { buttonClass } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { Select } from "../../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { Section } from "../section.tsx";
import { ProjectKeys } from "./project-keys.tsx";

/** The keys of one project, which the address identifies. */
export function Keys({ workspace }: { workspace: Workspace }) {
  const { query, route } = useLocation();
  const { data: projects, failure, reload } = useLoad(workspace.id, (signal) => loadProjects(workspace.id, signal));
  const base = `/w/${workspace.id}/settings`;
  const mayCreate = reasonAgainst(workspace.role, "project.create") === null;
  const project = projects?.find(({ id }) => id === query.project) ?? projects?.[0];
  return (
    <Section title="API keys" intro="An API key sends or reads entries of one project. Its secret is shown only once.">
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {projects === null && failure === null ? <Loading /> : null}
      {projects?.length === 0 ? (
        <Empty title="No projects yet">
          <p>
            An API key belongs to a project. {mayCreate ? "Create" : `Ask ${ableTo("project.create")} to create`} one
            first.
          </p>
          {mayCreate ? (
            <a class={buttonClass("primary")} href={`${base}/projects`}>
              Go to projects
            </a>
          ) : null}
        </Empty>
      ) : null}
      {projects && project ? (
        <>
          <Field label="Project">
            {(props) => (
              <Select
                {...props}
                value={project.id}
                options={projects.map(({ id, name }) => ({ value: id, label: name }))}
                onChange={(id) => route(`${base}/keys?project=${id}`, true)}
              />
            )}
          </Field>
          <ProjectKeys key={project.id} workspace={workspace} project={project} />
        </>
      ) : null}
    </Section>
  );
}
