import { failureOf } from "../../api/failure.ts";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import type { FirstEntry } from "./first-entry.ts";
import css from "./start.module.css";

interface WaitingProps {
  workspaceId: string;
  projectId: string;
  /** Sends an entry from the page; `null` if the page has no key. */
  secret: string | null;
  first: FirstEntry | null;
  /** Called when the page sends an entry. */
  onSent: () => void;
  /** Called if the service refuses the key. */
  onRefused: () => void;
}

/** Shows that the page waits for the first entry, and the entry once it is there. */
export function Waiting({ workspaceId, projectId, secret, first, onSent, onRefused }: WaitingProps) {
  const logs = `/w/${workspaceId}/p/${projectId}`;
  const sending = useAction(async () => {
    if (secret === null) return;
    // Before the call: the entry is there also if its response is lost.
    onSent();
    const body = { level: "info", message: "Hello from the console", data: { page: location.pathname } };
    await request(`/logger/${projectId}/log`, { token: secret, body }).catch((error: unknown) => {
      if (failureOf(error).status === 401) onRefused();
      throw error;
    });
  });
  return (
    <section class={css.wait} data-arrived={first !== null} aria-label="First entry">
      <span class={css.pulse} aria-hidden="true" />
      <div class={css.said} role="status">
        {first === null ? (
          <>
            <b>Waiting for the first entry</b>
            <span>This turns green when it arrives. Nothing yet? Check the address and the answer of the program.</span>
          </>
        ) : (
          <>
            <b>The first entry is here</b>
            <span class={css.entry}>
              <Time at={first.receivedAt} /> <code>{first.level}</code> <bdi>{first.message}</bdi>
            </span>
          </>
        )}
      </div>
      <Row>
        {first === null ? (
          <>
            {secret === null ? null : (
              <Button busy={sending.busy} onClick={() => sending.run()}>
                Send one from here
              </Button>
            )}
            <a class={buttonClass("quiet")} href={logs}>
              Skip to the logs
            </a>
          </>
        ) : (
          <a class={buttonClass("primary")} href={`${logs}?entry=${encodeURIComponent(first.id)}`}>
            Open the entry
          </a>
        )}
      </Row>
      <Problem failure={sending.failure} />
    </section>
  );
}
