import { useEffect } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { Button } from "../../ui/button.tsx";
import { Facts } from "../../ui/items.tsx";
import { Row } from "../../ui/page.tsx";
import type { ShopAction } from "./code.ts";
import css from "./playground.module.css";
import { counts, logAction, problem, sendNow } from "./shop-logger.ts";

/** What can be done in the shop, and what that logs. */
export const ACTIONS: readonly ShopAction[] = [
  {
    label: "Search for rope",
    level: "info",
    category: "http",
    type: "request",
    message: "GET /search?q=rope",
    data: { query: "rope", results: 4 },
  },
  {
    label: "Put a compass in the cart",
    level: "info",
    category: "custom",
    type: "log",
    message: "Put in the cart",
    data: { product: "brass compass", items: 1 },
  },
  {
    label: "Sign in",
    level: "info",
    category: "auth",
    type: "login",
    message: "Signed in",
    data: { user: "ada", password: "correct horse", token: "abc123" },
  },
  {
    label: "Pay, and fail",
    level: "error",
    category: "http",
    type: "response",
    message: "Payment gateway timed out",
    data: { order: 9001, waitedMs: 5000 },
  },
];

interface ShopProps {
  last: ShopAction | null;
  onAction: (action: ShopAction) => void;
  /** Before anything is sent: the list of entries has to be there to see it arrive. */
  prepare: () => Promise<void>;
  /** Something was delivered, so less of the budget is left. */
  onDelivered: () => void;
}

/** A small application that logs with the client library, by a route of its own server. */
export function Shop({ last, onAction, prepare, onDelivered }: ShopProps) {
  const { pending, delivered, dropped } = counts.value;
  const sending = useAction(async () => {
    await prepare();
    await sendNow();
  });
  useEffect(() => {
    if (delivered + dropped > 0) onDelivered();
  }, [delivered, dropped]);
  return (
    <>
      <p>
        A small shop that logs with <code>taffrail/browser</code>. The library gathers entries and sends them after five
        seconds to a route of this server, which adds the key. The page itself needs none.
      </p>
      <Row>
        {ACTIONS.map((action) => (
          <Button
            key={action.label}
            onClick={() => {
              void prepare();
              logAction(action);
              onAction(action);
            }}
          >
            {action.label}
          </Button>
        ))}
      </Row>
      {last && "password" in last.data ? (
        <p class={css.quiet}>The library masks the password and the token before they leave the page.</p>
      ) : null}
      <div role="status">
        <Facts
          facts={[
            ["Waiting", pending],
            ["Delivered", delivered],
            ["Given up", dropped],
          ]}
        />
      </div>
      {problem.value === null ? null : (
        <p class={`${css.notes} ${css.bad}`} role="alert">
          {problem.value}
        </p>
      )}
      <Row>
        <Button look="primary" busy={sending.busy} disabled={pending === 0} onClick={() => void sending.run()}>
          Send now
        </Button>
        <span class={css.quiet}>or wait: it goes out by itself.</span>
      </Row>
    </>
  );
}
