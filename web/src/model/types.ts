/** Shapes of the API's answers, as its description gives them. Times are ISO 8601 in UTC. */

export const LEVELS = ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const;
export type Level = (typeof LEVELS)[number];

export const ROLES = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

export interface Workspace {
  id: string;
  slug: string;
  name: string;
  personal: boolean;
  role: Role;
  retentionDays: number;
  createdAt: string;
}

export interface Project {
  id: string;
  name: string;
  workspaceId: string;
  createdAt: string;
  lastSeq: number;
}

export interface LogEntry {
  id: string;
  seq: number;
  projectId: string;
  level: Level;
  category: string;
  type: string;
  message: string;
  timestamp: string;
  receivedAt: string;
  data?: Record<string, unknown>;
  session?: string;
  traceId?: string;
  spanId?: string;
}
