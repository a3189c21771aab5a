/** Redirects in a row that count as a loop. */
const REDIRECTS_MAX = 12;

interface Cookie {
  name: string;
  value: string;
  host: string;
  path: string;
  /** As it was set, with its attributes. */
  header: string;
}

/** The part of a browser that these flows need: cookies by host and path (not by port), and single redirects. */
export class Browser {
  #cookies: Cookie[] = [];

  cookies(): readonly Cookie[] {
    return this.#cookies;
  }

  /** Copies the cookies of another browser, as a second tab has them. */
  adopt(other: Browser): void {
    this.#cookies = [...other.cookies()];
  }

  /** Sends one request and follows nothing. */
  async request(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const target = new URL(url);
    const headers = new Headers(init.headers);
    const cookie = this.#cookies
      .filter(({ host, path }) => host === target.hostname && target.pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
    if (cookie) headers.set("Cookie", cookie);
    const response = await fetch(target, { ...init, headers, redirect: "manual" });
    for (const header of response.headers.getSetCookie()) this.#keep(target, header);
    return response;
  }

  /** Follows redirects to the first response that is not a redirect, or up to the address that `stop` accepts. */
  async open(
    url: string | URL,
    init: RequestInit,
    stop: (url: URL) => boolean,
  ): Promise<{ url: URL; response: Response; stopped: boolean }> {
    let at = new URL(url);
    let response = await this.request(at, init);
    for (let redirects = 0; redirects < REDIRECTS_MAX; redirects++) {
      const location = response.headers.get("Location");
      if (response.status < 300 || response.status > 399 || location === null)
        return { url: at, response, stopped: false };
      await response.arrayBuffer();
      at = new URL(location, at);
      if (stop(at)) return { url: at, response, stopped: true };
      response = await this.request(at);
    }
    throw new Error(`The redirects do not end: ${at}`);
  }

  #keep(url: URL, header: string): void {
    const [pair = "", ...attributes] = header.split(/; */);
    const cut = pair.indexOf("=");
    const named = (name: string) =>
      attributes.find((attribute) => attribute.toLowerCase().startsWith(`${name}=`))?.split("=")[1];
    const cookie = {
      name: pair.slice(0, cut),
      value: pair.slice(cut + 1),
      host: url.hostname,
      path: named("path") ?? url.pathname,
      header,
    };
    this.#cookies = this.#cookies.filter(
      ({ name, host, path }) => name !== cookie.name || host !== cookie.host || path !== cookie.path,
    );
    const over = named("max-age") === "0" || Date.parse(named("expires") ?? "") < Date.now();
    if (!over) this.#cookies.push(cookie);
  }
}
