import { request } from "../../../api/request.ts";
import { authorized } from "../../../session/session.ts";
import type { Filters } from "../filters.ts";
import { tailParameters } from "./tail-filters.ts";
import type { TailLink, TailPorts, TailSocket } from "./tail-link.ts";

/** Milliseconds in the background after which the connection is closed until the page is visible again. */
const BACKGROUND_MS = 5 * 60_000;
/** Milliseconds between two clock checks, and the least gap that means the machine slept. */
const CLOCK_MS = 10_000;
const SLEPT_MS = 60_000;

export interface TailSource {
  workspaceId: string;
  projectId: string;
  filters: Filters;
  /** An API key, used instead of the account. */
  token?: string | undefined;
}

/** The ports of a tail in a browser, except the callbacks `entries` and `changed`. */
export function browserPorts(source: TailSource): Omit<TailPorts, "entries" | "changed"> {
  const path = `/logger/${encodeURIComponent(source.projectId)}/tail`;
  return {
    async ticket(signal) {
      const options = { method: "POST", signal } as const;
      const { data } =
        source.token === undefined
          ? await authorized<{ ticket: string }>(`${path}/ticket`, { ...options, workspaceId: source.workspaceId })
          : await request<{ ticket: string }>(`${path}/ticket`, { ...options, token: source.token });
      return data.ticket;
    },
    open(ticket, since): TailSocket {
      const query = tailParameters(source.filters);
      query.set("ticket", ticket);
      if (since !== null) query.set("since", String(since));
      const url = new URL(`${path}?${query}`, location.href);
      url.protocol = url.protocol.replace("http", "ws");
      return adapted(new WebSocket(url));
    },
    later(milliseconds, call) {
      const timer = setTimeout(call, milliseconds);
      return () => clearTimeout(timer);
    },
    random: Math.random,
    isOnline: () => navigator.onLine,
  };
}

/**
 * Notifies a tail of events of its page: offline, background, sleep of the machine. Returns a function that stops it.
 */
export function watchPage(link: TailLink): () => void {
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const online = (): void => link.wake();
  const offline = (): void => link.offline();
  let isAsleep = false;
  const sleep = (): void => {
    isAsleep = true;
    link.sleep();
  };
  const looked = (): void => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(sleep, BACKGROUND_MS);
    else if (isAsleep) {
      isAsleep = false;
      link.wake();
    }
  };
  let last = Date.now();
  const clock = setInterval(() => {
    const now = Date.now();
    // Timers of a page in the background may run once a minute; such a page disconnects soon anyway.
    if (now - last > SLEPT_MS && !document.hidden) link.wake();
    last = now;
  }, CLOCK_MS);
  addEventListener("online", online);
  addEventListener("offline", offline);
  document.addEventListener("visibilitychange", looked);
  return () => {
    clearTimeout(hiding);
    clearInterval(clock);
    removeEventListener("online", online);
    removeEventListener("offline", offline);
    document.removeEventListener("visibilitychange", looked);
  };
}

/** Adapts a browser's WebSocket to `TailSocket`. */
function adapted(socket: WebSocket): TailSocket {
  const tail: TailSocket = {
    onopen: null,
    onmessage: null,
    onclose: null,
    send: (text) => socket.send(text),
    close: () => socket.close(),
  };
  socket.onopen = () => tail.onopen?.();
  socket.onmessage = ({ data }) => tail.onmessage?.({ data });
  socket.onclose = ({ code, reason }) => tail.onclose?.({ code, reason });
  return tail;
}
