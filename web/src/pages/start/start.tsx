import { Check } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useLoad } from "../../lib/load.ts";
import { dropKept, isKeptStored, keepKey, keptIsStored, keptKey } from "../../model/kept-key.ts";
import { ableTo, reasonAgainst } from "../../model/roles.ts";
import type { MadeKey, Project, Workspace } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import { Icon } from "../../ui/icon.tsx";
import { useTitle } from "../../ui/page.tsx";
import { SecretGuard } from "../../ui/secret-guard.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { ConfirmationNotice } from "../auth/confirmation.tsx";
import { rememberedNext, rememberNext } from "../auth/next.ts";
import { OfWorkspace } from "../of-workspace.tsx";
import { createKey } from "./create-key.ts";
import { type FirstEntry, useFirstEntry } from "./first-entry.ts";
import { useGoneKey } from "./gone-key.ts";
import { MissingKey } from "./missing-key.tsx";
import { NewProject } from "./new-project.tsx";
import { SnippetCard } from "./snippet-card.tsx";
import css from "./start.module.css";
import { Waiting } from "./waiting.tsx";

/** From an empty workspace to the first entry on one page: project, key, a program that sends, and the arrival. */
export function Start() {
  return <OfWorkspace title="Send the first entry">{(workspace) => <Steps workspace={workspace} />}</OfWorkspace>;
}

interface FrameProps {
  title: string;
  lead?: string;
  children: ComponentChildren;
}

function Frame({ title, lead, children }: FrameProps) {
  useTitle(title);
  return (
    <div class={css.page}>
      <ConfirmationNotice />
      <h1>{title}</h1>
      {lead ? <p class={css.lead}>{lead}</p> : null}
      {children}
    </div>
  );
}

function Steps({ workspace }: { workspace: Workspace }) {
  const { query, route } = useLocation();
  const [made, setMade] = useState(keptKey);
  const projectId = query.project ?? null;
  const mayMakeKeys = reasonAgainst(workspace.role, "key.create") === null;
  const here = `/w/${workspace.id}/start`;

  function hold(key: MadeKey | null): void {
    keepKey(key);
    setMade(key);
  }

  async function createProject(name: string): Promise<void> {
    const { data } = await authorized<Project>("/projects", { workspaceId: workspace.id, body: { name } });
    // Without its key the project is there all the same: the page offers to create the key again.
    hold(mayMakeKeys ? await createKey(workspace.id, data).catch(() => null) : null);
    const path = `${here}?project=${data.id}`;
    // The link that confirms the address leads back to the project in place of a second one.
    if (rememberedNext() === here) rememberNext(path);
    route(path, true);
  }

  if (projectId === null) {
    const reason = reasonAgainst(workspace.role, "project.create");
    return (
      <Frame title="Send the first entry" lead="Name the application, choose what you use, paste and run.">
        <Columns at={1} workspace={workspace} project={null}>
          {reason === null ? (
            <>
              <NewProject mayMakeKeys={mayMakeKeys} onCreate={createProject} />
              <SnippetCard target={{ origin: location.origin, projectId: null, secret: null }} />
            </>
          ) : (
            <Empty title="No project to choose">
              <p>Ask {ableTo("project.create")} to create one.</p>
            </Empty>
          )}
        </Columns>
      </Frame>
    );
  }
  return (
    <OfProject
      key={projectId}
      workspace={workspace}
      projectId={projectId}
      made={made?.projectId === projectId ? made : null}
      onMade={hold}
    />
  );
}

interface OfProjectProps {
  workspace: Workspace;
  projectId: string;
  made: MadeKey | null;
  /** `null` once the key is no longer valid. */
  onMade: (key: MadeKey | null) => void;
}

function OfProject({ workspace, projectId, made, onMade }: OfProjectProps) {
  const path = `/projects/${projectId}`;
  const { data, failure, reload } = useLoad(
    path,
    async (signal) => (await authorized<Project>(path, { workspaceId: workspace.id, signal })).data,
  );
  const first = useFirstEntry(workspace.id, projectId);
  useEffect(() => {
    // The open page still shows the secret; it is not kept beyond it.
    if (first !== null) dropKept(projectId);
  }, [first, projectId]);
  const [isStored, setStored] = useState(isKeptStored);
  const [isSentHere, setSentHere] = useState(false);
  const stored = (): void => {
    keptIsStored();
    setStored(true);
  };
  // A leave may fail. Only a page that is gone has left the key behind, and does not ask when the user comes back.
  const isLeaving = useRef(false);
  useEffect(
    () => () => {
      if (isLeaving.current) keptIsStored();
    },
    [],
  );
  const remade = (key: MadeKey): void => {
    setStored(false);
    onMade(key);
  };
  const gone = (): void => {
    onMade(null);
    reload();
  };
  // With its first entry the page is done, and needs no key.
  useGoneKey(workspace.id, first === null ? made : null, gone);
  if (data === null || failure?.status === 404) {
    return (
      <Frame title="Send the first entry">
        {failure ? <Failure failure={failure} onRetry={reload} /> : <Loading />}
      </Frame>
    );
  }
  const target = { origin: location.origin, projectId, secret: made?.secret ?? null };
  return (
    <Frame
      title={`Send the first entry of ${data.name}`}
      lead="Paste, run, done. The entry is here as soon as the service answers 200."
    >
      <Columns
        at={stepOf(first, made)}
        workspace={workspace}
        project={data}
        after={
          <Waiting
            workspaceId={workspace.id}
            projectId={projectId}
            secret={target.secret}
            first={first}
            onSent={() => setSentHere(true)}
            onRefused={gone}
          />
        }
      >
        {made === null && first === null ? <MissingKey workspace={workspace} project={data} onMade={remade} /> : null}
        <SnippetCard target={target} onStored={stored} />
        {/* An entry that a program sent says that the program has the key. */}
        {made === null || isStored || (first !== null && !isSentHere) ? null : (
          <SecretGuard
            what="key"
            text={made.secret}
            onCopied={stored}
            onLeave={() => {
              isLeaving.current = true;
            }}
          />
        )}
      </Columns>
    </Frame>
  );
}

function stepOf(first: FirstEntry | null, made: MadeKey | null): number {
  if (first !== null) return 5;
  return made === null ? 2 : 3;
}

interface ColumnsProps {
  /** The current step, from 1; 5 once all are done. */
  at: number;
  workspace: Workspace;
  project: Project | null;
  children: ComponentChildren;
  /** Below the steps on wide windows, at the end on narrow ones. */
  after?: ComponentChildren;
}

function Columns({ at, workspace, project, children, after }: ColumnsProps) {
  const steps = [
    ["Project", project ? `${project.name}, kept ${workspace.retentionDays} days` : "one per application"],
    ["Key", "writes and reads, shown once"],
    ["Send", "choose what you use"],
    ["Look", "your logs, live"],
  ] as const;
  return (
    <div class={css.columns}>
      <ol class={css.steps} aria-label="Steps">
        {steps.map(([title, what], index) => {
          const number = index + 1;
          const isDone = number < at;
          return (
            <li
              key={title}
              data-state={isDone ? "done" : number === at ? "now" : "later"}
              aria-current={number === at ? "step" : undefined}
            >
              <span class={css.number}>{isDone ? <Icon shape={Check} size={14} /> : number}</span>
              <div>
                <b>
                  {title}
                  {isDone ? <span class="visually-hidden"> done</span> : null}
                </b>
                <span class={css.what}>{what}</span>
              </div>
            </li>
          );
        })}
      </ol>
      <div class={css.work}>{children}</div>
      {after}
    </div>
  );
}
