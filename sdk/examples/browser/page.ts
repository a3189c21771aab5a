/** Runs in the page, and where the server renders it: there the logger does nothing. It knows the route of the proxy, and no key. */
import { createLogger } from "taffrail/browser";

const logger = createLogger({ url: "/logs", defaultMeta: { release: "1.4.0" } });

/** The page's content, by server and page alike. */
export function render(items: number): string {
  logger.info("Cart rendered", { items });
  return `<p>${items} items in the cart</p>`;
}

if (typeof document !== "undefined") {
  addEventListener("error", ({ error, message }) => logger.system.error(message, { error }));
  addEventListener("unhandledrejection", ({ reason }) => logger.system.error("Unhandled rejection", { error: reason }));
  document.body.innerHTML = render(3);
}
