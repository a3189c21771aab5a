import { useLocation } from "preact-iso";
import { useLoad } from "../../lib/load.ts";
import { usePoll } from "../../lib/poll.ts";
import { type LocalMail, loadLocalMails } from "../../model/local-mails.ts";
import { followMailedLink } from "../../session/link-parameters.ts";
import { Badge } from "../../ui/badge.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Page, Row } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { rememberedNext } from "../auth/next.ts";
import css from "./outbox.module.css";

/** Milliseconds between two requests for new mails. */
const POLL_MS = 3000;

const KINDS: Readonly<Record<string, string>> = {
  "verify-email": "confirmation",
  "magic-link": "sign-in link",
  "reset-password": "new password",
  invite: "invitation",
  notice: "notice",
  alert: "alert",
};

/** The mails that a local service keeps instead of sending them, newest first. */
export function Outbox() {
  const { data, failure, reload, refresh } = useLoad("outbox", loadLocalMails);
  usePoll(refresh, POLL_MS);
  const back = rememberedNext();
  return (
    <Page title="Outbox">
      <p class={css.lead}>
        This local service keeps its mails here instead of sending them. New ones appear at the top.{" "}
        {back.includes("/start") ? <a href={back}>Back to the first entry</a> : <a href="/">Back to the workspaces</a>}
      </p>
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null && failure === null ? <Loading /> : null}
      {data?.length === 0 ? (
        <Empty title="No mail yet">
          <p>A mail appears some seconds after the action that sends it.</p>
        </Empty>
      ) : null}
      <div class={css.mails} role="feed" aria-label="Mails" aria-busy={data === null}>
        {data?.map((mail, index) => (
          <MailCard key={mail.id} mail={mail} place={index + 1} of={data.length} />
        ))}
      </div>
    </Page>
  );
}

function MailCard({
  mail: { id, to, kind, subject, text, links, createdAt },
  place,
  of,
}: {
  mail: LocalMail;
  place: number;
  of: number;
}) {
  return (
    <article class={css.mail} aria-labelledby={id} aria-posinset={place} aria-setsize={of}>
      <header class={css.head}>
        <h2 id={id}>
          <bdi>{subject}</bdi>
        </h2>
        <Badge>{KINDS[kind] ?? kind}</Badge>
        <span class={css.to}>
          to <bdi>{to}</bdi>, <Time at={createdAt} />
        </span>
      </header>
      {text
        .trim()
        .split("\n\n")
        .map((paragraph, at) => (
          <p key={at}>
            {paragraph.split("\n").map((line, at) => (
              <Line key={at} line={line} isLink={links.includes(line) && /^https?:/.test(line)} />
            ))}
          </p>
        ))}
      {/* To give it to somebody else, whose mail this is. */}
      {links.length === 1 && links[0] !== undefined ? (
        <Row>
          <Copy text={links[0]} label="Copy link" />
        </Row>
      ) : null}
    </article>
  );
}

/** Each link of a mail is on a line of its own. */
function Line({ line, isLink }: { line: string; isLink: boolean }) {
  const { route } = useLocation();
  return isLink ? (
    <a
      class={css.line}
      href={line}
      onClick={(event) => {
        const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
        if (isPlain && followMailedLink(line, route)) event.preventDefault();
      }}
    >
      {line}
    </a>
  ) : (
    <bdi class={css.line}>{line}</bdi>
  );
}
