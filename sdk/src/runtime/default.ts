import { visible } from "../terminal.ts";
import { outcomeOf } from "../transports/answers.ts";
import { createStream } from "../transports/stream.ts";
import type { Runtime } from "./runtime.ts";
import { web } from "./shared.ts";

/** The runtime of other platforms with web-standard interfaces. */
export const runtime: Runtime = { ...web, visible, answers: async () => ({ outcomeOf }), createStream };
