import type { Answer, RequestOptions } from "../api/request.ts";

/** Answers calls of one workspace without the account, as `authorized` does with it. */
export type GuestAccess = <T>(path: string, options: RequestOptions) => Promise<Answer<T>>;

/**
 * Workspaces that are open without an account, by id: the sandbox, while the playground shows it. Pages that call
 * `authorized` then work there as in any other workspace.
 */
export const guests = new Map<string, GuestAccess>();
