import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { useLoad } from "../../lib/load.ts";
import type { SessionInfo } from "../../model/account.ts";
import { authorized } from "../../session/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { shownAddress } from "../../ui/client-address.ts";
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

/** Where the account is signed in. Asked for on a click: it is a call of /auth, which few visits need. */
export function Sessions() {
  const [isShown, setIsShown] = useState(false);
  return (
    <Card title="Sessions">
      {isShown ? (
        <List />
      ) : (
        <div class={css.between}>
          <span>Every browser and program that is signed in to this account.</span>
          <Button onClick={() => setIsShown(true)}>Show the sessions</Button>
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
        <p>This browser is the only one that is signed in.</p>
      )}
      {isAsking ? (
        <Confirm
          title="End all other sessions?"
          action="End them"
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            const { data: ended } = await authorized<{ revoked: number }>("/auth/sessions", { method: "DELETE" });
            setIsAsking(false);
            put(data.filter(({ current }) => current));
            toast(ended.revoked === 1 ? "One session was ended." : `${ended.revoked} sessions were ended.`);
          }}
        >
          <p>
            {others === 1 ? "One other browser or program is" : `${others} other browsers and programs are`} signed out
            at once. API keys go on working.
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
    toast("The session was ended.");
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
        ["Address", shownAddress(ip)],
        ["Signed in", <Time key="in" at={createdAt} />],
        ["by", METHOD_NAMES[method]],
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
