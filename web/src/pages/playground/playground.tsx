import { useMemo, useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { clock, useNow } from "../../lib/now.ts";
import { INSTALL_NOTE } from "../../model/client-library.ts";
import { Copy } from "../../ui/copy.tsx";
import { Card, useTitle } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { Answer } from "./answer.tsx";
import { type Call, type CallAnswer, errorCode, type Refused, refusedOf, send } from "./call.ts";
import { clientCode, curlCommand, pageCode, proxyCode } from "./code.ts";
import { CodePanel, type Snippet } from "./code-panel.tsx";
import { Composer, type Draft } from "./composer.tsx";
import { FIRST_FORM, formOutgoing, type Outgoing, rawOutgoing } from "./draft.ts";
import { Feed } from "./feed.tsx";
import { Meter } from "./meter.tsx";
import css from "./playground.module.css";
import { FIRST_RAW } from "./raw.tsx";
import { type BudgetName, type Sandbox, type SandboxState, useSandbox } from "./sandbox.ts";
import { PROXY_URL } from "./shop-logger.ts";
import { useLive } from "./use-live.ts";
import { useSearch } from "./use-search.ts";

const FIRST_DRAFT: Draft = { way: "form", form: FIRST_FORM, raw: FIRST_RAW, idempotencyKey: "", action: null };

/** Error codes that mean that the sandbox was reset. */
const RESET_CODES = new Set(["API_KEY_REVOKED", "INVALID_API_KEY"]);

/** Tries the service without an account. */
export function Playground() {
  useTitle("Playground");
  const state = useSandbox();
  const { sandbox, failure, reload } = state;
  return (
    <div class={css.page}>
      <h1>Playground</h1>
      <p class={css.lead}>
        Send log entries to a public sandbox and watch them arrive, without an account. Everyone can read what you send.
      </p>
      {sandbox ? <PlaygroundContent state={state} sandbox={sandbox} /> : null}
      {!sandbox && failure ? <Failure failure={failure} onRetry={reload} isRepeated={false} /> : null}
      {!sandbox && !failure ? <Loading what="Opening the sandbox" /> : null}
    </div>
  );
}

function PlaygroundContent({ state, sandbox }: { state: SandboxState; sandbox: Sandbox }) {
  const { budgets, renew, note, lookUp } = state;
  const [draft, setDraft] = useState(FIRST_DRAFT);
  const [answer, setAnswer] = useState<CallAnswer | null>(null);
  const [refused, setRefused] = useState<{ raw: string; entries: Refused[] }>({ raw: "", entries: [] });
  const live = useLive(state);
  const current = (): Sandbox => state.current() ?? sandbox;

  /** Performs a call. If the sandbox was reset, repeats the call with the new key. */
  const perform = async (budget: BudgetName, callOf: (sandbox: Sandbox) => Call): Promise<CallAnswer> => {
    let got = await send(callOf(current()));
    if (RESET_CODES.has(errorCode(got) ?? "")) {
      const fresh = await renew();
      if (live.isOn()) await live.follow(fresh);
      got = await send(callOf(fresh));
    }
    // Another limit applies to a revoked key.
    if (got.status !== 401) note(budget, got.limit);
    return got;
  };
  const search = useSearch((callOf) => perform("reads", callOf));

  /** Starts the live view before entries are sent, unless no read is left. */
  const prepare = async (): Promise<void> => {
    const mayBegin = !live.isDeclined && budgets.reads?.remaining !== 0;
    if (live.isOn() || mayBegin) await live.follow(current());
  };
  const sending = useAction(async (outgoing: Outgoing) => {
    await prepare();
    const got = await perform("entries", (target) => ingestCall(target, outgoing, draft.idempotencyKey));
    setAnswer(got);
    setRefused({ raw: draft.raw, entries: refusedOf(got) });
  });

  const form = useMemo(() => formOutgoing(draft.form), [draft.form]);
  const raw = useMemo(() => rawOutgoing(draft.raw), [draft.raw]);
  const snippets = snippetsOf(sandbox, draft, draft.way === "form" ? form : raw);
  return (
    <>
      <SandboxCard state={state} sandbox={sandbox} />
      <div class={css.columns}>
        <div class={css.composer}>
          <Composer
            draft={draft}
            form={form}
            raw={raw}
            refused={refused.raw === draft.raw ? refused.entries : []}
            budget={budgets.entries}
            busy={sending.busy}
            failure={sending.failure}
            onChange={(patch) => setDraft((before) => ({ ...before, ...patch }))}
            onSend={(outgoing) => void sending.run(outgoing)}
            prepare={prepare}
            onDelivered={() => void lookUp()}
          />
        </div>
        <div class={css.outcome}>
          <Card title="Response">
            {draft.way === "app" ? (
              <p class={css.quiet}>
                The library handles responses: it counts deliveries, retries failures and reports dropped entries to the
                application.
              </p>
            ) : answer ? (
              <Answer answer={answer} units="entries an hour" />
            ) : (
              <p class={css.quiet}>Send an entry to see the response and its limit headers.</p>
            )}
          </Card>
          <Feed sandbox={sandbox} budgets={budgets} live={live} search={search} />
        </div>
        <div class={css.snippets}>
          <CodePanel snippets={snippets} />
        </div>
      </div>
    </>
  );
}

function SandboxCard({ state, sandbox }: { state: SandboxState; sandbox: Sandbox }) {
  const { budgets, renewedAt } = state;
  return (
    <Card title="Sandbox">
      <dl class={css.facts}>
        <div>
          <dt>Key</dt>
          <dd>
            <code>{sandbox.apiKey}</code>
            <Copy text={sandbox.apiKey} label="Copy key" />
          </dd>
        </div>
        <div>
          <dt>Project</dt>
          <dd>
            <code>{sandbox.projectId}</code>
            <Copy text={sandbox.projectId} label="Copy ID" />
          </dd>
        </div>
        <div>
          <dt>Next reset</dt>
          <dd>
            <Time at={sandbox.resetsAt} />
            <ResetCountdown at={Date.parse(sandbox.resetsAt)} />
          </dd>
        </div>
      </dl>
      <div class={css.budgets}>
        {budgets.entries ? <Meter label="Entries to send this hour" state={budgets.entries} /> : null}
        {budgets.reads ? <Meter label="Reads this hour" state={budgets.reads} /> : null}
      </div>
      <div class={css.announce} role="status">
        {renewedAt === null ? null : (
          <p class={`${css.notes} ${css.good}`}>
            The sandbox was reset at <Time at={renewedAt} />. It has new entries and a new key, which this page already
            uses.
          </p>
        )}
      </div>
    </Card>
  );
}

function ResetCountdown({ at }: { at: number }) {
  const left = at - useNow();
  return <span class={`${css.quiet} ${css.digits}`}>{left > 0 ? `in ${clock(left)}` : "about now"}</span>;
}

function ingestCall(
  { projectId, apiKey }: Pick<Sandbox, "projectId" | "apiKey">,
  { body, contentType }: Outgoing,
  idempotencyKey: string,
): Call {
  return {
    method: "POST",
    path: `/logger/${projectId}/log`,
    token: apiKey,
    body,
    contentType,
    ...(idempotencyKey === "" ? {} : { idempotencyKey }),
  };
}

function snippetsOf(
  { projectId, apiKey }: Sandbox,
  { way, action, idempotencyKey }: Draft,
  result: { ok: true; outgoing: Outgoing } | { ok: false },
): Snippet[] {
  const target = { origin: location.origin, projectId, apiKey };
  if (way === "app") {
    return [
      { name: "page", title: "In the page", code: pageCode(PROXY_URL, action), note: INSTALL_NOTE },
      { name: "server", title: "On the server", code: proxyCode(target, PROXY_URL), note: INSTALL_NOTE },
    ];
  }
  const outgoing = result.ok ? result.outgoing : null;
  const call = outgoing && ingestCall(target, outgoing, idempotencyKey);
  return [
    { name: "curl", title: "curl", code: call && curlCommand(target.origin, call) },
    {
      name: "client",
      title: "Client library",
      code: outgoing && clientCode(target, outgoing),
      note: `${INSTALL_NOTE} It generates Idempotency-Keys and masks passwords and tokens.`,
    },
  ];
}
