import { parentPort, workerData } from "node:worker_threads";
import { checkEvidence, type Evidence } from "./evidence.ts";

/** Checks a workspace beside the harness, which plays the next one in the meantime. */

// SAFETY: only the harness starts this thread.
parentPort?.postMessage(await checkEvidence(workerData as Evidence));
