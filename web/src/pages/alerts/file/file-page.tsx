import { Download, FileUp, ListRestart } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { NamedDestination } from "../../../../../sdk/src/cli/alerts/rule.ts";
import { RulesFailure, RulesFile, type RulesProblem } from "../../../../../sdk/src/cli/alerts/rules-file.ts";
import { rulesText } from "../../../../../sdk/src/cli/alerts/rules-text.ts";
import { failureOf } from "../../../api/failure.ts";
import { useAction } from "../../../lib/action.ts";
import { useLoad } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { applyAlerts, loadRules, type Plan, planAlerts, type Rule } from "../../../model/alerts.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import { loadProjects, workspaces } from "../../../model/workspaces.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { ChangesGuard } from "../../../ui/changes-guard.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Card, Page, Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { saveFile } from "../../../ui/save-file.ts";
import { Select } from "../../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { toast } from "../../../ui/toasts.tsx";
import alertsCss from "../alerts.module.css";
import css from "./file.module.css";
import { RulesEditor } from "./rules-editor.tsx";
import { planText, ShownPlan } from "./shown-plan.tsx";

const TITLE = "Rules as a file";
/** Name of the exported file, and of a pasted one. */
const FILE = "rules.yaml";
/** Bytes beyond which a file is not read. */
const MAX_BYTES = 1024 * 1024;

/** What is asked about: a plan for another text is not shown. */
interface Asked {
  projectId: string;
  text: string;
  prune: boolean;
}

/** The difference that a file makes, or has made. */
interface Shown extends Asked {
  plan: Plan;
  destinations: readonly NamedDestination[];
  isApplied: boolean;
  /** Whether it differs from the one that was to be applied, as the rules changed after the comparison. */
  isNewer: boolean;
}

/** The rules of a project as the file that `taffrail alerts` reads: exported, compared and applied. The address has the project. */
export function RulesFilePage() {
  const { workspaceId = "" } = useRoute().params;
  const { query } = useLocation();
  const { data, failure, reload } = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  if (data === null) {
    return <Page title={TITLE}>{failure === null ? <Loading /> : <Failure failure={failure} onRetry={reload} />}</Page>;
  }
  const [first] = data;
  const project = data.find(({ id }) => id === query.project) ?? first;
  if (project === undefined) {
    return (
      <Page title={TITLE}>
        <Empty title="No projects">
          <p>A file has the rules of a project. Create one first.</p>
          <a href={`/w/${workspaceId}/settings/projects`}>Projects</a>
        </Empty>
      </Page>
    );
  }
  return (
    <RulesFileOf
      workspaceId={workspaceId}
      projectId={project.id}
      projects={data.map(({ id, name }) => ({ value: id, label: visible(name) }))}
    />
  );
}

interface RulesFileOfProps {
  workspaceId: string;
  projectId: string;
  projects: readonly { value: string; label: string }[];
}

function RulesFileOf({ workspaceId, projectId, projects }: RulesFileOfProps) {
  const { path, route } = useLocation();
  const [text, setText] = useState("");
  /** The text, if it was written here: nothing else has it. */
  const [written, setWritten] = useState("");
  const [prune, setPrune] = useState(false);
  const [wrong, setWrong] = useState<{ asked: Asked; problems: readonly RulesProblem[] } | null>(null);
  /** Rules that were loaded while the editor has other text. */
  const [loaded, setLoaded] = useState<Pick<Asked, "projectId" | "text"> | null>(null);
  const [shown, setShown] = useState<Shown | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const role = workspaces.value?.find(({ id }) => id === workspaceId)?.role;
  const reason = role === undefined ? null : reasonAgainst(role, "alert.create");
  /** What the page shows when a request ends. */
  const latest = useRef({ projectId, text });
  latest.current = { projectId, text };
  const isLatest = (asked: Asked): boolean =>
    latest.current.projectId === asked.projectId && latest.current.text === asked.text;
  /** @param applied the difference that is applied; `null` to compare */
  const ask = async (asked: Asked, applied: Plan | null): Promise<void> => {
    setWrong(null);
    if (applied === null) setShown(null);
    try {
      const file = new RulesFile(FILE, asked.text);
      const destinations = await destinationsOf(workspaceId, asked.projectId);
      const { rules, unknown } = file.withIds(destinations);
      try {
        const done = await planOrApply(workspaceId, { ...asked, rules }, unknown, applied);
        setShown({ ...asked, ...done, destinations });
        if (done.isApplied && !isLatest(asked)) toast("Rules applied as they were compared.");
      } catch (error) {
        throw file.failureOf(failureOf(error).details, [], unknown) ?? error;
      }
    } catch (error) {
      if (!(error instanceof RulesFailure)) throw error;
      setWrong({ asked, problems: error.problems });
    }
  };
  const comparing = useAction((asked: Asked) => ask(asked, null));
  const applying = useAction(({ plan, ...asked }: Shown) => ask(asked, plan));
  const loading = useAction(async (isSaved: boolean) => {
    const [rules, destinations] = await Promise.all([
      loadRules(workspaceId, projectId),
      destinationsOf(workspaceId, projectId),
    ]);
    const current = rulesText(rules, destinations);
    if (isSaved) return saveFile(FILE, "application/yaml", current);
    // The rules of a project that was left are of no use in the next one.
    if (latest.current.projectId !== projectId) return;
    if (latest.current.text.trim() === "") setText(current);
    else if (latest.current.text !== current) setLoaded({ projectId, text: current });
  });
  const reading = useAction(async (file: File) => {
    if (file.size > MAX_BYTES) throw new Error(`${file.name} is larger than 1 MiB.`);
    const read = await file.text();
    setText(read);
    await comparing.run({ projectId, text: read, prune });
  });
  const isShown =
    shown !== null && shown.projectId === projectId && shown.text === text && shown.prune === prune ? shown : null;
  const problems =
    wrong !== null && wrong.asked.projectId === projectId && wrong.asked.text === text ? wrong.problems : [];
  const status = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // The button that was pressed may be removed.
    if ((shown?.isApplied || shown?.isNewer) && document.activeElement === document.body) status.current?.focus();
  }, [shown]);
  return (
    <Page title={TITLE}>
      <p class={css.intro}>
        The YAML file that <code>taffrail alerts apply</code> reads. Names identify rules.{" "}
        <a href={`/w/${workspaceId}/alerts?${new URLSearchParams({ project: projectId })}`}>Alerts of the project</a>
      </p>
      <div class={alertsCss.bar}>
        <Select
          label="Project"
          value={projectId}
          options={projects}
          onChange={(id) => route(`${path}?${new URLSearchParams({ project: id })}`, true)}
        />
        <Button icon={Download} busy={loading.busy} onClick={() => void loading.run(true)}>
          Export
        </Button>
        <Button icon={ListRestart} busy={loading.busy} onClick={() => void loading.run(false)}>
          Load current rules
        </Button>
        <Button icon={FileUp} busy={reading.busy} onClick={() => picker.current?.click()}>
          Choose file
        </Button>
        <input
          ref={picker}
          type="file"
          hidden
          aria-label="File of rules"
          accept=".yaml,.yml,.json,application/yaml,application/json,text/plain"
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            if (file !== undefined) void reading.run(file);
            // The same file can be chosen again after a change.
            currentTarget.value = "";
          }}
        />
      </div>
      <Problem failure={loading.failure ?? reading.failure} />
      <RulesEditor
        text={text}
        onText={(next) => {
          setText(next);
          setWritten(next);
        }}
        onFile={(file) => void reading.run(file)}
        problems={problems}
      />
      {text !== written || text.trim() === "" || isShown?.isApplied ? null : <ChangesGuard what="the rules" />}
      <label class={css.prune}>
        <input type="checkbox" checked={prune} onChange={({ currentTarget }) => setPrune(currentTarget.checked)} />
        Delete alerts that are not in the file
      </label>
      <Row>
        <Button
          look={isShown === null ? "primary" : "plain"}
          busy={comparing.busy}
          disabled={applying.busy || text.trim() === ""}
          onClick={() => void comparing.run({ projectId, text, prune })}
        >
          Compare
        </Button>
        {isShown === null || isShown.isApplied || isShown.plan.changes.length === 0 || reason !== null ? null : (
          <Button
            look="primary"
            // A disabled button would lose the focus. A press during the request does nothing.
            aria-disabled={applying.busy}
            disabled={comparing.busy}
            onClick={() => void applying.run(isShown)}
          >
            Apply
          </Button>
        )}
      </Row>
      {reason === null ? null : <p class={css.intro}>{reason}</p>}
      <Problem failure={comparing.failure ?? applying.failure} />
      {isShown === null ? null : (
        <Card title={isShown.isApplied ? "Applied" : "Difference"}>
          {isShown.isNewer ? (
            <p role="alert">The rules changed after the comparison. Nothing was applied: this is the new difference.</p>
          ) : null}
          <p ref={status} role="status" tabIndex={-1}>
            {planText(isShown.plan, isShown.isApplied)}
          </p>
          <ShownPlan {...isShown} />
        </Card>
      )}
      {loaded?.projectId === projectId ? (
        <Confirm
          title="Replace the text?"
          action="Replace"
          onConfirm={async () => {
            setText(loaded.text);
            setLoaded(null);
          }}
          onClose={() => setLoaded(null)}
        >
          <p>The current rules of the project replace the text in the editor.</p>
        </Confirm>
      ) : null}
    </Page>
  );
}

/** Changes of the alerts between a comparison and its application after which it is given up. */
const MAX_RACES = 3;

/**
 * Compares rules with those of a project, and makes the changes if they are those that were shown.
 * @param unknown what is wrong with the rules besides what the service finds
 * @param applied the difference that is to be made; `null` to compare alone
 */
async function planOrApply(
  workspaceId: string,
  { projectId, rules, prune }: Pick<Asked, "projectId" | "prune"> & { rules: readonly Rule[] },
  unknown: RulesFailure | null,
  applied: Plan | null,
): Promise<Pick<Shown, "plan" | "isApplied" | "isNewer">> {
  for (let race = 1; ; race++) {
    const plan = await planAlerts(workspaceId, projectId, rules, prune);
    if (unknown !== null) throw unknown;
    const isNewer = applied !== null && JSON.stringify(plan.changes) !== JSON.stringify(applied.changes);
    if (applied === null || isNewer) return { plan, isApplied: false, isNewer };
    try {
      const made = await applyAlerts(workspaceId, projectId, rules, { prune, revision: plan.revision });
      return { plan: made, isApplied: true, isNewer };
    } catch (error) {
      // The alerts changed since the comparison a moment ago.
      if (failureOf(error).status !== 409 || race === MAX_RACES) throw error;
    }
  }
}

async function destinationsOf(workspaceId: string, projectId: string): Promise<NamedDestination[]> {
  const path = `/projects/${projectId}/alert-destinations`;
  return (await authorized<{ items: NamedDestination[] }>(path, { workspaceId })).data.items;
}
