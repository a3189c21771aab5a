import type { Runtime } from "./runtime.ts";
import { web } from "./shared.ts";

/** The runtime of browsers. Code that most pages never need is a separate file, and the console is not a terminal. */
export const runtime: Runtime = {
  ...web,
  visible: (text) => text,
  answers: () => import("../transports/answers.ts"),
};
