import { ApiFailure } from "../../api/failure.ts";

/** Moves the failure for a wrong password to the password's field. */
export function wrongPasswordAt(path: string, failure: ApiFailure | null): ApiFailure | null {
  if (failure?.code !== "INVALID_CREDENTIALS") return failure;
  const { message, code, status } = failure;
  return new ApiFailure(message, { code, status, details: [{ path, code, message }] });
}
