/** Permissions of a key. The order fixes the bits in which they are stored. */
export const SCOPES = ["logs:write", "logs:read"] as const;
export type Scope = (typeof SCOPES)[number];

export function scopesToMask(scopes: readonly Scope[]): number {
  return scopes.reduce((mask, scope) => mask | (1 << SCOPES.indexOf(scope)), 0);
}

export function maskToScopes(mask: number): Scope[] {
  return SCOPES.filter((_, bit) => (mask & (1 << bit)) !== 0);
}

export function hasScope(mask: number, scope: Scope): boolean {
  return (mask & (1 << SCOPES.indexOf(scope))) !== 0;
}

/** Permissions that a user can grant to an agent, in the order in which they are stored and shown. */
export const AGENT_SCOPES = ["logs:read", "views:write", "alerts:write"] as const;
export type AgentScope = (typeof AGENT_SCOPES)[number];
