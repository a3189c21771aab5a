import { BUSY } from "../http/busy-refusal.ts";
import { ApiError } from "../http/errors.ts";

export function unavailable(): ApiError {
  return new ApiError(BUSY);
}

/** How the runtime says that an object has no such method. It has no flag for it. */
const NO_METHOD = "The RPC receiver does not implement ";

/**
 * Whether a call met an object that does not know it yet: while a deployment is under way, routers may be newer than
 * objects for minutes.
 */
export function isUnknownMethod(error: Error): boolean {
  return (
    error instanceof TypeError && "remote" in error && error.remote === true && error.message.startsWith(NO_METHOD)
  );
}

/** What an object throws at a router of an older version: to that one it is as busy as the runtime says of others. */
export class OutdatedRouter extends Error {
  readonly overloaded = true;

  constructor() {
    super("The router is of an older version, which does not read all that this object has moved.");
    this.name = "OutdatedRouter";
  }
}

/**
 * An object's answer, if it has these members: one of an older version may lack what was added since.
 * @throws ApiError SERVICE_UNAVAILABLE where one is missing
 */
export function requireMembers<T extends object>(answer: T, members: readonly (keyof T & string)[]): T {
  if (members.every((member) => answer[member] !== undefined)) return answer;
  throw unavailable();
}
