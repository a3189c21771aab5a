import { useEffect, useState } from "preact/hooks";
import css from "./local-outbox.module.css";

/** Names of this very machine: a service there may keep its mails instead of sending them. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Asked for once, for all pages that speak of a mail. */
let outbox: Promise<boolean> | undefined;

/** The way to mails that a service on this machine keeps instead of sending. Requests nothing under any other name. */
export function LocalOutbox() {
  const [isThere, setIsThere] = useState(false);
  useEffect(() => {
    if (!LOOPBACK.has(location.hostname)) return;
    outbox ??= fetch("/dev/outbox").then(
      ({ ok }) => ok,
      () => false,
    );
    void outbox.then(setIsThere);
  }, []);
  return isThere ? (
    <p class={css.outbox}>
      This service runs on this machine and keeps its mails: <a href="/dev/outbox">they are in its outbox</a>.
    </p>
  ) : null;
}
