import { useState } from "preact/hooks";
import type { AgentScope } from "../../../../src/keys/scopes.ts";
import { may, SCOPE_ACTIONS } from "../../../../src/workspace/permissions.ts";
import { failureOf } from "../../api/failure.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { useLoad } from "../../lib/load.ts";
import { giveGrant, type OpenedRequest, SCOPE_WORDS } from "../../model/grants.ts";
import { ableTo } from "../../model/roles.ts";
import type { Workspace } from "../../model/types.ts";
import { loadProjects, loadWorkspaces } from "../../model/workspaces.ts";
import { Button } from "../../ui/button.tsx";
import choices from "../../ui/choices.module.css";
import { Field } from "../../ui/field.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Select } from "../../ui/select.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import css from "./consent.module.css";

interface ConsentFormProps {
  /** The query of the authorization request. */
  request: string;
  opened: OpenedRequest;
  workspaces: readonly Workspace[];
  onLeave: (to: string, how: string) => void;
}

/** Statuses of a refusal after which roles and workspaces are loaded again. */
const REFUSED = new Set([403, 404]);

/** Chooses workspace, projects and scopes. */
export function ConsentForm({ request, opened, workspaces, onLeave }: ConsentFormProps) {
  const [workspaceId, setWorkspaceId] = useState(workspaces[0]?.id ?? "");
  // Scopes that the client names are what it was started for; otherwise it gets no more than reading.
  const [wanted, setWanted] = useState<readonly AgentScope[]>(() => namedIn(request, opened.scopes));
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const workspace = workspaces.find(({ id }) => id === workspaceId);
  const scopes = opened.scopes.filter((scope) => isAllowed(workspace, scope) && wanted.includes(scope));
  const allowing = useAction(async () => {
    try {
      onLeave(await giveGrant(workspaceId, { request, scopes, projectIds: chosen }), "Allowed");
    } catch (error) {
      // The user may have lost the workspace or the role since the page was opened.
      if (REFUSED.has(failureOf(error).status)) void loadWorkspaces();
      throw error;
    }
  });
  const wait = useWait(allowing.failure);
  const { refuseUrl } = opened;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (wait === 0) void allowing.run();
      }}
    >
      <Field label="Workspace">
        {(props) => (
          <Select
            {...props}
            value={workspace?.id ?? ""}
            options={[
              // No other workspace takes the place of a lost one without a choice of the user.
              ...(workspace === undefined ? [{ value: "", label: "Choose a workspace" }] : []),
              ...workspaces.map(({ id, name, role }) => ({ value: id, label: name, hint: role })),
            ]}
            onChange={(id) => {
              setWorkspaceId(id);
              setChosen(null);
            }}
          />
        )}
      </Field>
      {workspace === undefined ? null : (
        <Projects key={workspaceId} workspaceId={workspaceId} chosen={chosen} onChange={setChosen} />
      )}
      <fieldset class={choices.choices}>
        <legend>May</legend>
        {opened.scopes.map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              disabled={scope === "logs:read" || !isAllowed(workspace, scope)}
              onChange={(event) => {
                const isOn = event.currentTarget.checked;
                setWanted(opened.scopes.filter((each) => (each === scope ? isOn : wanted.includes(each))));
              }}
            />
            <span>
              {SCOPE_WORDS[scope]} <code>{scope}</code>
              {isAllowed(workspace, scope) ? null : (
                <span class={css.quiet}> Requires {ableTo(SCOPE_ACTIONS[scope])}.</span>
              )}
            </span>
          </label>
        ))}
      </fieldset>
      <p class={css.quiet}>You can end the access at any time on your account page.</p>
      <Problem failure={allowing.failure} />
      <Row>
        <Button
          type="submit"
          look="primary"
          busy={allowing.busy}
          disabled={wait > 0 || workspace === undefined || chosen?.length === 0}
        >
          Allow
        </Button>
        {refuseUrl === null ? null : <Button onClick={() => onLeave(refuseUrl, "Not allowed")}>Refuse</Button>}
      </Row>
    </form>
  );
}

function namedIn(request: string, asked: readonly AgentScope[]): AgentScope[] {
  const named = (new URLSearchParams(request).get("scope") ?? "").split(" ");
  return asked.filter((scope) => scope === "logs:read" || named.includes(scope));
}

function isAllowed(workspace: Workspace | undefined, scope: AgentScope): boolean {
  return workspace !== undefined && may(workspace.role, SCOPE_ACTIONS[scope]);
}

interface ProjectsProps {
  workspaceId: string;
  /** `null`: all. */
  chosen: readonly string[] | null;
  onChange: (chosen: readonly string[] | null) => void;
}

function Projects({ workspaceId, chosen, onChange }: ProjectsProps) {
  const { data, failure, reload } = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  return (
    <fieldset class={choices.choices}>
      <legend>Projects</legend>
      <label>
        <input type="radio" name="projects" checked={chosen === null} onChange={() => onChange(null)} />
        All, also later ones
      </label>
      <label>
        <input type="radio" name="projects" checked={chosen !== null} onChange={() => onChange([])} />
        Selected
      </label>
      {chosen === null ? null : data === null ? (
        failure ? (
          <Failure failure={failure} onRetry={reload} />
        ) : (
          <Loading />
        )
      ) : (
        <div class={css.projects}>
          {data.length === 0 ? <p class={css.quiet}>No projects.</p> : null}
          {data.map(({ id, name }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={(event) => {
                  const isOn = event.currentTarget.checked;
                  onChange(isOn ? [...chosen, id] : chosen.filter((each) => each !== id));
                }}
              />
              <bdi>{name}</bdi>
            </label>
          ))}
        </div>
      )}
    </fieldset>
  );
}
