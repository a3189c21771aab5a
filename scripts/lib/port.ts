import { createServer } from "node:net";
import { isLoopback, UNKNOWN_CLIENT_IP } from "../../src/platform/loopback.ts";
import { hasCode, StartFailure } from "./failure.ts";

/**
 * Checks that a port can be listened on before anything starts, and resolves port 0 to a free one.
 * @throws StartFailure if it cannot
 */
export function claimablePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => reject(new StartFailure(portProblem(error, host, port))));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      const taken = typeof address === "object" && address ? address.port : port;
      server.close(() => resolve(taken));
    });
  });
}

function portProblem(error: Error, host: string, port: number): string {
  if (hasCode(error, "EADDRINUSE")) {
    return `Port ${port} on ${host} is taken by another program. Stop it, or choose another port: PORT=${port + 1} npm start`;
  }
  if (hasCode(error, "EACCES")) return `Port ${port} on ${host} is not allowed for this user. Choose one from 1024 on.`;
  if (hasCode(error, "EADDRNOTAVAIL") || hasCode(error, "ENOTFOUND"))
    return `HOST: ${host} is not an address of this machine.`;
  return `Port ${port} on ${host} cannot be used: ${error.message}`;
}

/** Addresses that mean "every interface". Clients cannot call them, so links use loopback. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

/** The address to print and to use in links. */
export function addressOf(host: string, port: number): string {
  const name = ANY_ADDRESS[host] ?? (host.includes(":") ? `[${host}]` : host);
  return `http://${name}:${port}`;
}

/** Whether only this machine can reach a server on this host. */
export function isLoopbackHost(host: string): boolean {
  return isLoopback(new URL(`http://${host.includes(":") ? `[${host}]` : host}`));
}

/**
 * Client IP of requests without a header for it. The local runtime does not report the peer to the worker. If only this
 * machine can connect, the peer is this machine. On another host, a proxy must set the header (docs/development.md).
 */
export function unnamedClientOf(host: string): string {
  return isLoopbackHost(host) ? "127.0.0.1" : UNKNOWN_CLIENT_IP;
}
