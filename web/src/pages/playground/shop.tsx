import { useEffect } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { Button } from "../../ui/button.tsx";
import { Facts } from "../../ui/items.tsx";
import { Row } from "../../ui/page.tsx";
import type { ShopAction } from "./code.ts";
import css from "./playground.module.css";
import { counts, logAction, problem, sendNow } from "./shop-logger.ts";

/** Actions of the shop with the entries they log. */
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
    label: "Add compass to cart",
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
    label: "Fail payment",
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
  /** Called after a delivery, which uses the budget. */
  onDelivered: () => void;
}

/** A small application that logs with the client library through a route of its server. */
export function Shop({ last, onAction, onDelivered }: ShopProps) {
  const { pending, delivered, dropped } = counts.value;
  const sending = useAction(sendNow);
  useEffect(() => {
    if (delivered + dropped > 0) onDelivered();
  }, [delivered, dropped]);
  return (
    <>
      <p>
        A small shop that logs with <code>taffrail/browser</code>. The library sends entries in batches to a route of
        this server, which adds the API key.
      </p>
      <Row>
        {ACTIONS.map((action) => (
          <Button
            key={action.label}
            onClick={() => {
              logAction(action);
              onAction(action);
            }}
          >
            {action.label}
          </Button>
        ))}
      </Row>
      {last && "password" in last.data ? (
        <p class={css.quiet}>The library masked the password and the token before sending.</p>
      ) : null}
      <div role="status">
        <Facts
          facts={[
            ["Queued", pending],
            ["Delivered", delivered],
            ["Dropped", dropped],
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
        <span class={css.quiet}>Sent automatically after 5 s.</span>
      </Row>
    </>
  );
}
