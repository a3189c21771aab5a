/** Orders of the harness of alerts to its service variant: `POST /chaos`. */
export type AlertOrder =
  /** Moves the clock of the service: milliseconds ahead of the machine's. */
  | { do: "clock"; offsetMs: number }
  /** Makes commits one after the other, with a clock that moves on before each. Returns the offset of the clock after it. */
  | { do: "commit"; workspaceId: string; keyHash: string; count: number; seed: number }
  /** Runs the alarm of a workspace so often, at once. */
  | { do: "alarms"; workspaceId: string; times: number }
  /** Ends the workspace's object with its memory. */
  | { do: "end"; workspaceId: string };
