import type { Runtime } from "./runtime.ts";
import { web } from "./shared.ts";

/** Browsers. What most pages never need is a file of its own there, and no console is a terminal. */
export const runtime: Runtime = {
  ...web,
  visible: (text) => text,
  answers: () => import("../transports/answers.ts"),
};
