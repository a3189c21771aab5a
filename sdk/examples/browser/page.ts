/** Runs in the page, and on the server that renders it, where the logger does nothing. The page has no key. */
import { createLogger } from "taffrail/browser";

const logger = createLogger({ url: "/logs", defaultMeta: { release: "1.4.0" } });

/** The page's content, rendered by the server and the page. */
export function render(items: number): string {
  logger.info("Cart rendered", { items });
  return `<p>${items} items in the cart</p>`;
}

if (typeof document !== "undefined") {
  addEventListener("error", ({ error, message }) => logger.system.error(message, { error }));
  addEventListener("unhandledrejection", ({ reason }) => logger.system.error("Unhandled rejection", { error: reason }));
  document.body.innerHTML = render(3);
}
