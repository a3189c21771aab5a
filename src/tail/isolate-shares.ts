import { tailMemory } from "../platform/isolate-memory.ts";
import { TailShares } from "./shares.ts";

/** Shares of all objects and of all tails of Loki's clients in the isolate (module state). */
export const isolateShares = new TailShares(tailMemory);
