import { useMemo, useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { INSTALL_NOTE } from "../../model/client-library.ts";
import { Card } from "../../ui/page.tsx";
import { Answer } from "./answer.tsx";
import { type Call, type CallAnswer, errorCode, type Refused, refusedOf, send } from "./call.ts";
import { clientCode, curlCommand, pageCode, proxyCode } from "./code.ts";
import { CodePanel, type Snippet } from "./code-panel.tsx";
import { Composer, type Draft } from "./composer.tsx";
import { FIRST_FORM, formOutgoing, type Outgoing, rawOutgoing } from "./draft.ts";
import css from "./playground.module.css";
import { FIRST_RAW } from "./raw.tsx";
import type { Sandbox, SandboxState } from "./sandbox.ts";
import { PROXY_URL } from "./shop-logger.ts";

const FIRST_DRAFT: Draft = { way: "form", form: FIRST_FORM, raw: FIRST_RAW, idempotencyKey: "", action: null };

/** Error codes that mean that the sandbox was reset. */
const RESET_CODES = new Set(["API_KEY_REVOKED", "INVALID_API_KEY"]);

interface SendPanelProps {
  state: SandboxState;
  sandbox: Sandbox;
  /** Whether the box around it does not name it. */
  hasTitle: boolean;
}

/** Sends entries to the sandbox in three ways, and shows the response and the same call as code. */
export function SendPanel({ state, sandbox, hasTitle }: SendPanelProps) {
  const { budgets, renew, note, lookUp } = state;
  const [draft, setDraft] = useState(FIRST_DRAFT);
  const [answer, setAnswer] = useState<CallAnswer | null>(null);
  const [refused, setRefused] = useState<{ raw: string; entries: Refused[] }>({ raw: "", entries: [] });

  /** Performs a call. If the sandbox was reset, repeats the call with the new key. */
  const perform = async (callOf: (sandbox: Sandbox) => Call): Promise<CallAnswer> => {
    let got = await send(callOf(state.current() ?? sandbox));
    if (RESET_CODES.has(errorCode(got) ?? "")) got = await send(callOf(await renew()));
    // Another limit applies to a revoked key.
    if (got.status !== 401) note("entries", got.limit);
    return got;
  };
  const sending = useAction(async (outgoing: Outgoing) => {
    const got = await perform((target) => ingestCall(target, outgoing, draft.idempotencyKey));
    setAnswer(got);
    setRefused({ raw: draft.raw, entries: refusedOf(got) });
  });

  const form = useMemo(() => formOutgoing(draft.form), [draft.form]);
  const raw = useMemo(() => rawOutgoing(draft.raw), [draft.raw]);
  const snippets = snippetsOf(sandbox, draft, draft.way === "form" ? form : raw);
  return (
    <>
      <Composer
        hasTitle={hasTitle}
        draft={draft}
        form={form}
        raw={raw}
        refused={refused.raw === draft.raw ? refused.entries : []}
        budget={budgets.entries}
        busy={sending.busy}
        failure={sending.failure}
        onChange={(patch) => setDraft((before) => ({ ...before, ...patch }))}
        onSend={(outgoing) => void sending.run(outgoing)}
        onDelivered={() => void lookUp()}
      />
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
      <CodePanel snippets={snippets} />
    </>
  );
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
