import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { useLoad } from "../../lib/load.ts";
import type { SessionInfo } from "../../model/account.ts";
import { authorized } from "../../session/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { clientIpText } from "../../ui/client-ip.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toasts.tsx";
import { PROVIDER_LABELS } from "../auth/providers.ts";
import css from "./account.module.css";
import { programOf } from "./user-agent.ts";

const METHOD_NAMES: Readonly<Record<SessionInfo["method"], string>> = {
  password: "password",
  magic_link: "mailed link",
  provider_a: PROVIDER_LABELS.provider_a.name,
  provider_b: PROVIDER_LABELS.provider_b.name,
};

/**
 * Active sessions of the account, loaded on a click: few visits need the call, which counts against the limit of
 * `/auth`.
 */
export function Sessions() {
  const [isShown, setIsShown] = useState(false);
  return (
    <Card title="Sessions">
      {isShown ? (
        <List />
      ) : (
        <div class={css.between}>
          <span>Browsers and programs signed in to this account.</span>
          <Button onClick={() => setIsShown(true)}>Show sessions</Button>
        </div>
      )}
    </Card>
  );
}

function List() {
  const { data, failure, reload, put } = useLoad("sessions", async (signal) => {
    const { data } = await authorized<{ items: SessionInfo[] }>("/auth/sessions", { signal });
    return data.items;
  });
  const [isAsking, setIsAsking] = useState(false);
  if (data === null) return failure ? <Failure failure={failure} onRetry={reload} /> : <Loading />;
  const others = data.filter(({ current }) => !current).length;
  return (
    <>
      <Items label="Sessions">
        {data.map((session) => (
          <SessionItem
            key={session.id}
            session={session}
            onEnded={() => put(data.filter(({ id }) => id !== session.id))}
          />
        ))}
      </Items>
      {others > 0 ? (
        <Row>
          <Button onClick={() => setIsAsking(true)}>End all other sessions</Button>
        </Row>
      ) : (
        <p>No other sessions.</p>
      )}
      {isAsking ? (
        <Confirm
          title="End all other sessions?"
          action="End sessions"
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            const { data: ended } = await authorized<{ revoked: number }>("/auth/sessions", { method: "DELETE" });
            setIsAsking(false);
            put(data.filter(({ current }) => current));
            toast(ended.revoked === 1 ? "1 session ended." : `${ended.revoked} sessions ended.`);
          }}
        >
          <p>
            Signs out {others === 1 ? "one other browser or program" : `${others} other browsers and programs`}{" "}
            immediately. API keys keep working.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function SessionItem({ session, onEnded }: { session: SessionInfo; onEnded: () => void }) {
  const { id, method, userAgent, ip, createdAt, lastUsedAt, current } = session;
  const { run, busy, failure } = useAction(async () => {
    await authorized(`/auth/sessions/${id}`, { method: "DELETE" });
    toast("Session ended.");
    onEnded();
  });
  const wait = useWait(failure);
  const program = programOf(userAgent);
  return (
    <Item
      title={
        <>
          <span title={userAgent ?? undefined}>{program}</span>{" "}
          {current ? <Badge tone="good">This browser</Badge> : null}
        </>
      }
      facts={[
        ["IP address", clientIpText(ip)],
        ["Signed in", <Time key="in" at={createdAt} />],
        ["Method", METHOD_NAMES[method]],
        ["Last renewed", <Time key="used" at={lastUsedAt} />],
      ]}
      actions={
        current ? null : (
          <Button
            small
            busy={busy}
            disabled={wait > 0}
            aria-label={`End the session of ${program}`}
            onClick={() => run()}
          >
            End
          </Button>
        )
      }
    >
      <Problem failure={failure} />
    </Item>
  );
}
