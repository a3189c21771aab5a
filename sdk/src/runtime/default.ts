import { visible } from "../terminal.ts";
import { outcomeOf } from "../transports/answers.ts";
import type { Runtime } from "./runtime.ts";
import { web } from "./shared.ts";

/** Whatever has the web's own interfaces and is no browser. */
export const runtime: Runtime = { ...web, visible, answers: async () => ({ outcomeOf }) };
