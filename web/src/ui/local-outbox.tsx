import { useEffect, useState } from "preact/hooks";
import css from "./local-outbox.module.css";

/** Host names of this machine. A service here may keep its mails instead of sending them. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Requested once for all pages that mention a mail. */
let outbox: Promise<boolean> | undefined;

/**
 * Whether the service on this machine keeps its mails; false until the answer. Sends no request under any other host name.
 */
export function useLocalOutbox(): boolean {
  const [isThere, setIsThere] = useState(false);
  useEffect(() => {
    if (!LOOPBACK.has(location.hostname)) return;
    // A body that is not read would keep one of the six connections.
    outbox ??= fetch("/dev/outbox").then(
      ({ ok, body }) => body?.cancel().then(() => ok) ?? ok,
      () => false,
    );
    void outbox.then(setIsThere);
  }, []);
  return isThere;
}

/** Link to the local outbox, if the service keeps its mails. */
export function LocalOutbox() {
  return useLocalOutbox() ? (
    <p class={css.outbox}>
      This local service does not send e-mail. <a href="/dev/outbox">Open outbox</a>
    </p>
  ) : null;
}
