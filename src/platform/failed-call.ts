/** What the runtime says of a call to an object, or to D1, that failed on its side. */
type Flag = "overloaded" | "retryable" | "durableObjectReset";

export function hasFlag(error: Error, flag: Flag): boolean {
  return flag in error && Reflect.get(error, flag) === true;
}

/** Whether the call failed on the platform's side: what was called is overloaded, was reset or could not be reached. */
export function isFailedCall(error: Error): boolean {
  return hasFlag(error, "overloaded") || hasFlag(error, "retryable") || hasFlag(error, "durableObjectReset");
}
