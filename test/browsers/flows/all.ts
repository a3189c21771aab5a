import type { Flow } from "../trip.ts";
import { OWN_ACCOUNT_FLOWS } from "./account.ts";
import { ACCOUNT_FLOWS } from "./accounts.ts";
import { ALERT_FLOWS } from "./alerts.ts";
import { BOARD_FLOWS } from "./boards.ts";
import { EXPLORER_FLOWS } from "./explorer.ts";
import { EXPLORER_TOOL_FLOWS } from "./explorer-tools.ts";
import { INVESTIGATE_FLOWS } from "./investigate.ts";
import { PUBLIC_FLOWS } from "./public.ts";
import { RULE_FLOWS } from "./rules.ts";
import { SETTINGS_FLOWS } from "./settings.ts";
import { START_FLOWS } from "./start.ts";
import { WORKSPACE_FLOWS } from "./workspace.ts";

/** All flows of the console, in the order in which a new user comes to them. */
export const FLOWS: readonly Flow[] = [
  ...START_FLOWS,
  ...EXPLORER_FLOWS,
  ...EXPLORER_TOOL_FLOWS,
  ...INVESTIGATE_FLOWS,
  ...BOARD_FLOWS,
  ...ALERT_FLOWS,
  ...RULE_FLOWS,
  ...WORKSPACE_FLOWS,
  ...SETTINGS_FLOWS,
  ...ACCOUNT_FLOWS,
  ...OWN_ACCOUNT_FLOWS,
  ...PUBLIC_FLOWS,
];
