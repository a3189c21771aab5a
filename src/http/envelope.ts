import { ERROR_STATUS, type Refusal } from "./errors.ts";

/** Builds the body every JSON answer has: `{success, data, error, meta}`. */
export function successBody(data: unknown, requestId: string): string {
  const [before, behind] = successEnds(requestId);
  return before + JSON.stringify(data ?? null) + behind;
}

/** What stands before and behind the data of a successful answer. */
export function successEnds(requestId: string): [before: string, behind: string] {
  return ['{"success":true,"data":', `,"error":null,"meta":${meta(requestId)}}`];
}

export function failureBody(refusal: Refusal, requestId: string): string {
  const { code, message, details } = refusal;
  const error = details && details.length > 0 ? { code, message, details } : { code, message };
  return `{"success":false,"data":null,"error":${JSON.stringify(error)},"meta":${meta(requestId)}}`;
}

export function success(data: unknown, requestId: string, status: 200 | 201 = 200): Response {
  return new Response(successBody(data, requestId), { status, headers: { "Content-Type": "application/json" } });
}

export function failure(refusal: Refusal, requestId: string): Response {
  const status = ERROR_STATUS[refusal.code];
  const headers = new Headers({ "Content-Type": "application/json", ...refusal.headers });
  if (status === 401 && !headers.has("WWW-Authenticate")) {
    headers.set("WWW-Authenticate", `Bearer realm="taffrail", error="${challenge(refusal)}"`);
  }
  return new Response(failureBody(refusal, requestId), { status, headers });
}

function meta(requestId: string): string {
  return `{"timestamp":"${new Date().toISOString()}","requestId":${JSON.stringify(requestId)}}`;
}

/** RFC 6750 section 3.1 knows three values; a missing credential is `invalid_request`. */
function challenge(refusal: Refusal): string {
  return refusal.code === "UNAUTHORIZED" ? "invalid_request" : "invalid_token";
}
