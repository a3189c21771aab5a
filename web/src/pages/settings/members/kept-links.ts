import { useEffect, useState } from "preact/hooks";
import { usePoll } from "../../../lib/poll.ts";
import { type LocalMail, loadLocalMails } from "../../../model/local-mails.ts";
import type { Invitation } from "../../../model/types.ts";

/** Milliseconds between two looks for a mail, and for which it is waited for: it is stored some seconds after its invitation. */
const POLL_MS = 1000;
const WAIT_MS = 15_000;

export interface KeptLinks {
  /** Links of invitations, by id. */
  links: ReadonlyMap<string, string>;
  /** Whether the mail of an invitation without a link may still come. */
  isWaiting: boolean;
}

/** Loads the links of invitations from the mails that a local service keeps. */
export function useKeptLinks(isKept: boolean, invitations: readonly Invitation[] | null): KeptLinks {
  const [links, setLinks] = useState<ReadonlyMap<string, string>>(new Map());
  const [isWaiting, setIsWaiting] = useState(true);
  const missing = isKept ? (invitations ?? []).filter(({ id }) => !links.has(id)).map(({ id }) => id) : [];
  const wanted = missing.join(" ");
  const look = async (): Promise<void> => {
    // The outbox has a notice of its own for a failure.
    const mails = await loadLocalMails().catch(() => null);
    if (mails !== null) setLinks(linksIn(mails));
  };
  useEffect(() => {
    if (wanted === "") return;
    setIsWaiting(true);
    void look();
    const timer = setTimeout(() => setIsWaiting(false), WAIT_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  usePoll(() => {
    if (wanted !== "" && isWaiting) void look();
  }, POLL_MS);
  return { links, isWaiting };
}

/** Returns the links of invitations by the ids of these: the service gives a mail the id of its invitation, with another prefix. */
export function linksIn(mails: readonly LocalMail[]): ReadonlyMap<string, string> {
  return new Map(
    mails.flatMap(({ id, kind, links: [link] }) =>
      kind === "invite" && link !== undefined ? [[id.replace(/^mail_/, "inv_"), link] as const] : [],
    ),
  );
}
