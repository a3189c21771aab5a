import type { Flow } from "../trip.ts";
import { ACCOUNT_FLOWS } from "./accounts.ts";
import { ALERT_FLOWS } from "./alerts.ts";
import { BOARD_FLOWS } from "./boards.ts";
import { EXPLORER_FLOWS } from "./explorer.ts";
import { INVESTIGATE_FLOWS } from "./investigate.ts";
import { PUBLIC_FLOWS } from "./public.ts";
import { START_FLOWS } from "./start.ts";
import { WORKSPACE_FLOWS } from "./workspace.ts";

/** All flows of the console, in the order in which a new user comes to them. */
export const FLOWS: readonly Flow[] = [
  ...START_FLOWS,
  ...EXPLORER_FLOWS,
  ...INVESTIGATE_FLOWS,
  ...BOARD_FLOWS,
  ...ALERT_FLOWS,
  ...WORKSPACE_FLOWS,
  ...ACCOUNT_FLOWS,
  ...PUBLIC_FLOWS,
];
