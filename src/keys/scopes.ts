/** Permissions of a key. The order fixes the bits in which they are stored. */
export const SCOPES = ["logs:write", "logs:read", "alerts:read", "alerts:write"] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes for entries, without those for alerts. */
export const LOG_SCOPES = ["logs:write", "logs:read"] as const satisfies readonly Scope[];

export function scopesToMask(scopes: readonly Scope[]): number {
  return scopes.reduce((mask, scope) => mask | (1 << SCOPES.indexOf(scope)), 0);
}

export function maskToScopes(mask: number): Scope[] {
  return SCOPES.filter((_, bit) => (mask & (1 << bit)) !== 0);
}

/** Whether a key has a scope. One that writes alerts reads them, too, because a change starts from what is stored. */
export function hasScope(mask: number, scope: Scope): boolean {
  const has = (each: Scope) => (mask & (1 << SCOPES.indexOf(each))) !== 0;
  return has(scope) || (scope === "alerts:read" && has("alerts:write"));
}

/** Permissions that a user can grant to an agent, in the order in which they are stored and shown. */
export const AGENT_SCOPES = ["logs:read", "views:write", "alerts:write"] as const;
export type AgentScope = (typeof AGENT_SCOPES)[number];
