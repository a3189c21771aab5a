import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import { keepMethods, loadMethods } from "../../model/account.ts";
import { dropKept } from "../../model/kept-key.ts";
import { loadRecentAdditions, type RecentAdditions, type RecentKey, recover } from "../../model/recent-additions.ts";
import { authorized, user } from "../../session/session.ts";
import type { StoredUser } from "../../session/storage.ts";
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
import { type Reauthentication, ReauthenticationDialog, useReauthentication } from "./reauthentication.tsx";
import { pathOf } from "./steps.ts";

const PATH = "/auth/review";

/** For a possibly compromised account: recent additions to it and how to undo them. */
export function Review() {
  const account = user.value;
  const { data, failure, reload, put } = useLoad(account?.id ?? "", loadRecentAdditions);
  if (account === null) return null;
  return (
    <Page title="Review your account">
      <p>
        If someone else may have had access: these are the additions to <strong>{account.email}</strong> in the last 30
        days.
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
          <Keys recovery={data} onDeleted={(id) => put({ ...data, keys: data.keys.filter((key) => key.id !== id) })} />
          <Card title="Password">
            <div class={css.between}>
              <span>A new password ends all other sessions and invalidates mailed links.</span>
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
  recovery: RecentAdditions;
  onDone: () => void;
}

function Access({ user, recovery, onDone }: AccessProps) {
  const { otherSessions, providers } = recovery;
  const [isAsking, setIsAsking] = useState(false);
  const recovering = useReauthentication(async (shown) => {
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
        <p>No provider was linked in the last 30 days.</p>
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
          ? "No other sessions."
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
        <Reauthenticate reauthentication={recovering} user={user} />
      ) : isAsking ? (
        <Confirm
          title="Sign out everywhere else?"
          action={action}
          onClose={() => setIsAsking(false)}
          onConfirm={recovering.run}
        >
          <p>
            Ends every other session immediately
            {providers.length === 0 ? "." : " and unlinks the providers above."} API keys keep working: delete unknown
            keys below.
          </p>
          <Problem failure={recovering.failure} />
          {recovering.failure?.code === "LAST_AUTH_METHOD" ? <a href={pathOf("password")}>Set a password</a> : null}
        </Confirm>
      ) : null}
    </Card>
  );
}

/** Loads the sign-in methods only if they are needed: the call counts against the limit of `/auth`. */
function Reauthenticate({ reauthentication, user }: { reauthentication: Reauthentication; user: StoredUser }) {
  const { data, failure, reload } = useLoad(user.id, loadMethods);
  if (data)
    return <ReauthenticationDialog reauthentication={reauthentication} user={user} methods={data} next={PATH} />;
  return failure ? <Failure failure={failure} onRetry={reload} /> : <Loading />;
}

function Keys({ recovery, onDeleted }: { recovery: RecentAdditions; onDeleted: (id: string) => void }) {
  const { keys, complete } = recovery;
  return (
    <Card title="API keys">
      {keys.length === 0 ? (
        <p>You created no key in the last 30 days that still works.</p>
      ) : (
        <>
          <p>Working keys that you created, in all your workspaces. Delete the ones you do not recognise.</p>
          <Items label="API keys made in the last 30 days">
            {keys.map((key) => (
              <KeyItem key={key.id} apiKey={key} onDeleted={() => onDeleted(key.id)} />
            ))}
          </Items>
        </>
      )}
      {complete ? null : <p>More keys exist. Delete some, then reload this page.</p>}
    </Card>
  );
}

function KeyItem({ apiKey, onDeleted }: { apiKey: RecentKey; onDeleted: () => void }) {
  const { id, name, prefix, scopes, projectId, projectName, workspaceId, workspaceName, createdAt, lastUsedAt } =
    apiKey;
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Item
      title={name}
      facts={[
        ["Prefix", <code key="prefix">{prefix}</code>],
        ["Scopes", scopes.join(", ")],
        [
          "Project",
          <a key="project" href={`/w/${workspaceId}/settings/keys?project=${projectId}`}>
            {workspaceName} / {projectName}
          </a>,
        ],
        ["Created", <Time key="made" at={createdAt} />],
        ["Last used", lastUsedAt === null ? "never" : <Time key="used" at={lastUsedAt} />],
      ]}
      actions={
        <Button small onClick={() => setIsAsking(true)} aria-label={`Delete ${name}`}>
          Delete
        </Button>
      }
    >
      {isAsking ? (
        <Confirm
          title={`Delete ${name}?`}
          action="Delete key"
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            await authorized(`/projects/${projectId}/keys/${id}`, { method: "DELETE", workspaceId });
            dropKept(id);
            toast(`Deleted ${name}.`);
            onDeleted();
          }}
        >
          <p>Programs that use this key are refused from their next request on.</p>
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
