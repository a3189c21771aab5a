import type { FaultServer } from "../server.ts";
import type { Clock } from "./clock.ts";
import type { Receivers } from "./receivers.ts";
import type { Versions } from "./versions.ts";

/** What all workspaces of a run share. */
export interface Stage {
  server: FaultServer;
  clock: Clock;
  versions: Versions;
  receivers: Receivers;
  problems: string[];
  report(line: string): void;
  /** Counts something for the summary, by default one. */
  note(name: string, more?: number): void;
}
