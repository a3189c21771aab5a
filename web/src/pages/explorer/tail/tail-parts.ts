/** What a live view loads when it begins. */
export { browserPorts, watchPage } from "./browser-ports.ts";
export { fitsTail, remainingTest } from "./tail-filters.ts";
export { TailLink } from "./tail-link.ts";
