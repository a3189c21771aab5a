import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import { keepMethods, loadMethods } from "../../model/account.ts";
import { loadRecovery, type RecentKey, type Recovery, recover } from "../../model/recovery.ts";
import { authorized, user } from "../../session/session.ts";
import type { StoredUser } from "../../session/stored.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toasts.tsx";
import { PROVIDER_LABELS } from "../auth/providers.ts";
import css from "./account.module.css";
import { ProveDialog, type Proven, useProven } from "./proven.tsx";
import { pathOf } from "./steps.ts";

const PATH = "/auth/review";

/** For somebody whose account may have been in other hands: what was added to it of late, and how to take it back. */
export function Review() {
  const account = user.value;
  const { data, failure, reload, put } = useLoad(account?.id ?? "", loadRecovery);
  if (account === null) return null;
  return (
    <Page title="Review your account">
      <p>
        For when somebody else may have been in it. What was added to <strong>{account.email}</strong> in the last 30
        days is below.
      </p>
      {data === null ? (
        failure ? (
          <Failure failure={failure} onRetry={reload} />
        ) : (
          <Loading />
        )
      ) : (
        <>
          <Access user={account} recovery={data} onDone={() => put({ ...data, otherSessions: 0, providers: [] })} />
          <Keys recovery={data} onRevoked={(id) => put({ ...data, keys: data.keys.filter((key) => key.id !== id) })} />
          <Card title="Password">
            <div class={css.between}>
              <span>A new one ends every other session, too, and takes back every mailed link.</span>
              <a href={pathOf("password")}>Set a new password</a>
            </div>
          </Card>
        </>
      )}
    </Page>
  );
}

interface AccessProps {
  user: StoredUser;
  recovery: Recovery;
  onDone: () => void;
}

function Access({ user, recovery, onDone }: AccessProps) {
  const { otherSessions, providers } = recovery;
  const [isAsking, setIsAsking] = useState(false);
  const recovering = useProven(async (shown) => {
    const { revoked, unlinked } = await recover(shown);
    setIsAsking(false);
    keepMethods(null);
    toast(`${countOf(revoked, "session")} ended, ${countOf(unlinked.length, "provider")} unlinked.`);
    onDone();
  });
  const action = providers.length === 0 ? "Sign out elsewhere" : "Sign out elsewhere, unlink";
  const isClean = otherSessions === 0 && providers.length === 0;
  return (
    <Card title="Sessions and providers">
      {providers.length === 0 ? (
        <p>No provider was linked.</p>
      ) : (
        <Items label="Providers linked in the last 30 days">
          {providers.map(({ provider, linkedAt }) => (
            <Item
              key={`${provider} ${linkedAt}`}
              title={labelOf(PROVIDER_LABELS[provider].name)}
              facts={[["Linked", <Time key="at" at={linkedAt} />]]}
            />
          ))}
        </Items>
      )}
      <p>
        {otherSessions === 0
          ? "This browser is the only one that is signed in."
          : `${countOf(otherSessions, "other browser or program is", "other browsers and programs are")} signed in.`}
      </p>
      {isClean ? null : (
        <Row>
          <Button look="danger" onClick={() => setIsAsking(true)}>
            {action}
          </Button>
        </Row>
      )}
      {recovering.isAsking ? (
        <Prove proven={recovering} user={user} />
      ) : isAsking ? (
        <Confirm
          title="Sign out everywhere else?"
          action={action}
          onClose={() => setIsAsking(false)}
          onConfirm={recovering.run}
        >
          <p>
            Every other session ends at once
            {providers.length === 0 ? "." : ", and the providers above can sign in to this account no more."} API keys
            go on working: revoke below what you do not know.
          </p>
          <Problem failure={recovering.failure} />
          {recovering.failure?.code === "LAST_AUTH_METHOD" ? <a href={pathOf("password")}>Set a password</a> : null}
        </Confirm>
      ) : null}
    </Card>
  );
}

/** The ways in are asked for only where they are needed: it is a call of /auth. */
function Prove({ proven, user }: { proven: Proven; user: StoredUser }) {
  const { data, failure, reload } = useLoad(user.id, loadMethods);
  if (data) return <ProveDialog proven={proven} user={user} methods={data} next={PATH} />;
  return failure ? <Failure failure={failure} onRetry={reload} /> : <Loading />;
}

function Keys({ recovery, onRevoked }: { recovery: Recovery; onRevoked: (id: string) => void }) {
  const { keys, complete } = recovery;
  return (
    <Card title="API keys">
      {keys.length === 0 ? (
        <p>You made no key that still works.</p>
      ) : (
        <>
          <p>Keys that you made, and that still work, in all your workspaces. Revoke what you do not know.</p>
          <Items label="API keys made in the last 30 days">
            {keys.map((key) => (
              <KeyItem key={key.id} apiKey={key} onRevoked={() => onRevoked(key.id)} />
            ))}
          </Items>
        </>
      )}
      {complete ? null : <p>There are more. Revoke some, then load this page again.</p>}
    </Card>
  );
}

function KeyItem({ apiKey, onRevoked }: { apiKey: RecentKey; onRevoked: () => void }) {
  const { id, name, prefix, scopes, projectId, projectName, workspaceId, workspaceName, createdAt, lastUsedAt } =
    apiKey;
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Item
      title={name}
      facts={[
        ["Begins", <code key="prefix">{prefix}</code>],
        ["Scopes", scopes.join(", ")],
        [
          "Project",
          <a key="project" href={`/w/${workspaceId}/settings/keys?project=${projectId}`}>
            {workspaceName} / {projectName}
          </a>,
        ],
        ["Made", <Time key="made" at={createdAt} />],
        ["Last used", lastUsedAt === null ? "never" : <Time key="used" at={lastUsedAt} />],
      ]}
      actions={
        <Button small onClick={() => setIsAsking(true)} aria-label={`Revoke ${name}`}>
          Revoke
        </Button>
      }
    >
      {isAsking ? (
        <Confirm
          title={`Revoke ${name}?`}
          action="Revoke it"
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            await authorized(`/projects/${projectId}/keys/${id}`, { method: "DELETE", workspaceId });
            toast(`Revoked ${name}.`);
            onRevoked();
          }}
        >
          <p>Programs that use it are refused from the next request on.</p>
        </Confirm>
      ) : null}
    </Item>
  );
}

function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function labelOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
