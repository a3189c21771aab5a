/** Where a client of OAuth receives the answer of an authorization request. */

/** Characters of a redirect URI. */
const MAX_LENGTH = 1000;
const PRINTABLE = /^[\x21-\x7e]+$/;
/** The machine of the browser; http is allowed there, and the port is free (RFC 8252). */
const LOOPBACK_HOSTS: readonly string[] = ["127.0.0.1", "[::1]", "localhost"];
/** Schemes that a browser handles itself, in which an address could run a script or read a file. */
const BROWSER_SCHEMES =
  /^(?:javascript|data|vbscript|file|blob|about|filesystem|view-source|wss?|ftp|mailto|tel|sms|intent|chrome.*|edge|moz-.*|ms-.*|search-ms|resource|jar|mhtml):$/;
/** Parameters of the answer, which a redirect URI must not have already. */
const ANSWER_PARAMETERS = ["code", "state", "iss", "error", "error_description"] as const;

/** Returns what is wrong with a redirect URI, or `null`. */
export function redirectUriProblem(text: string): string | null {
  if (text.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  if (!PRINTABLE.test(text) || !URL.canParse(text)) return "must be a URI";
  const url = new URL(text);
  if (text.includes("#")) return "must not have a fragment";
  if (url.username !== "" || url.password !== "") return "must not have a user name or a password";
  if (ANSWER_PARAMETERS.some((name) => url.searchParams.has(name))) {
    return `must not have the parameters ${ANSWER_PARAMETERS.join(", ")}`;
  }
  if (url.protocol === "https:" || isLoopbackRedirect(url)) return null;
  if (url.protocol === "http:") return "must use https, or http to 127.0.0.1, [::1] or localhost";
  return BROWSER_SCHEMES.test(url.protocol) ? "must not use a scheme of the browser" : null;
}

function isLoopbackRedirect(url: URL): boolean {
  return url.protocol === "http:" && LOOPBACK_HOSTS.includes(url.hostname);
}

/** Whether a request's redirect URI is a registered one: the same text, or the same but for the port of this machine. */
export function isRegisteredRedirect(registered: readonly string[], presented: string): boolean {
  if (redirectUriProblem(presented) !== null) return false;
  return registered.some((uri) => uri === presented || isSameLoopback(uri, presented));
}

function isSameLoopback(registered: string, presented: string): boolean {
  const [a, b] = [new URL(registered), new URL(presented)];
  if (!isLoopbackRedirect(a) || !isLoopbackRedirect(b)) return false;
  return a.hostname === b.hostname && a.pathname === b.pathname && a.search === b.search;
}

/** Returns the receiver of an answer as users see it: a host, this machine, or the scheme of a program. */
export function receiverOf(redirectUri: string): string {
  const url = new URL(redirectUri);
  if (isLoopbackRedirect(url)) return "this computer";
  return url.protocol === "https:" ? url.host : url.protocol;
}

/** Parameters of an answer in the redirect. An absent one is left out. */
export type AnswerParameters = Readonly<Partial<Record<(typeof ANSWER_PARAMETERS)[number], string | null>>>;

/** Returns the address to which the browser takes an answer. */
export function answerUrl(redirectUri: string, parameters: AnswerParameters): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) url.searchParams.append(name, value);
  }
  return url.href;
}
