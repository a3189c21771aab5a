/** A client of OAuth: a program that asks for access on behalf of a user. All clients are public ones. */
export interface AgentClient {
  /** The https URL of its metadata document, or an id that registration returned. */
  id: string;
  /** Without control characters and marks of direction. */
  name: string;
  /** The host that publishes the metadata document; `null` for a registered client, whose name is only its own statement. */
  host: string | null;
  redirectUris: readonly string[];
}

export const CLIENT_BOUNDS = { nameLength: 100, redirectUris: 20 } as const;

/** Returns a client's name as users may see it; `null` if nothing visible is left. */
export function shownName(text: string): string | null {
  const visible = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").replace(/\s+/g, " ");
  const name = visible.trim().slice(0, CLIENT_BOUNDS.nameLength).toWellFormed();
  return name === "" ? null : name;
}
