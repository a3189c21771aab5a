const LOOPBACK_HOST = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a URL names this very machine: the one place that plain http may go to. */
export function isLoopback(url: URL): boolean {
  return LOOPBACK_HOST.test(url.hostname);
}

/** https anywhere, plain http on this machine only. */
export function isSecure(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}
