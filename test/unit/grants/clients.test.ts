import { describe, expect, it } from "vitest";
import { shownName } from "../../../src/grants/client.ts";
import {
  clientOf,
  DOCUMENT_LIMITS,
  documentUrlProblem,
  fetchClient,
  keptClient,
} from "../../../src/grants/client-document.ts";
import {
  clientIdOf,
  registeredClient,
  registrationOf,
  registrationShape,
} from "../../../src/grants/registered-client.ts";

const ID = "https://app.example.com/oauth/client.json";
const DOCUMENT = {
  client_id: ID,
  client_name: "App",
  client_uri: "https://app.example.com",
  redirect_uris: ["http://127.0.0.1/cb"],
  token_endpoint_auth_method: "none",
  logo_uri: "https://app.example.com/logo.png",
};
const answering = (body: BodyInit | null, init: ResponseInit = {}) => {
  return () => Promise.resolve(new Response(body, { headers: { "content-type": "application/json" }, ...init }));
};

describe("a client's metadata document", () => {
  it("names the client and its redirect URIs", () => {
    expect(clientOf(ID, JSON.stringify(DOCUMENT))).toEqual({
      ok: true,
      client: {
        id: ID,
        name: "App",
        host: "app.example.com",
        redirectUris: ["http://127.0.0.1/cb"],
      },
    });
  });

  it.each([
    ["is not JSON", "<html>"],
    ["is a list", []],
    ["is of another client (mix-up)", { ...DOCUMENT, client_id: "https://other.example.com/client.json" }],
    ["names no redirect URI", { ...DOCUMENT, redirect_uris: [] }],
    ["names a script as redirect URI", { ...DOCUMENT, redirect_uris: ["http://127.0.0.1/", "javascript:alert(1)"] }],
    ["has a secret", { ...DOCUMENT, client_secret: "x" }],
    ["wants to authenticate", { ...DOCUMENT, token_endpoint_auth_method: "private_key_jwt" }],
    ["does not use codes", { ...DOCUMENT, grant_types: ["client_credentials"] }],
    [
      "names 21 redirect URIs",
      { ...DOCUMENT, redirect_uris: Array.from({ length: 21 }, (_, n) => `https://a.example/${n}`) },
    ],
  ])("is refused if it %s", (_what, document) => {
    const text = typeof document === "string" ? document : JSON.stringify(document);
    expect(clientOf(ID, text)).toMatchObject({ ok: false, message: expect.stringContaining("metadata document") });
  });

  it.each([
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://10.0.0.1/client.json",
    "https://169.254.169.254/latest/meta-data",
    "https://2130706433/client.json",
    "https://0x7f.1/client.json",
    "https://[::ffff:127.0.0.1]/client.json",
    "https://localhost/client.json",
    "https://metadata.google.internal/client.json",
    "http://app.example.com/client.json",
    "https://app.example.com",
    "https://app.example.com/",
    "https://app.example.com/a#b",
    "https://user@app.example.com/client.json",
    "https://app.example.com/a/../client.json",
    "https://APP.example.com/client.json",
    "https://app.example.com:443/client.json",
    `https://app.example.com/${"x".repeat(2048)}`,
  ])("may not be at %s", (url) => expect(documentUrlProblem(url, "public")).toMatch(/^must /));

  it("is fetched once for the time that it says, within bounds", async () => {
    let fetches = 0;
    const outbound = (_url: string, init: RequestInit) => {
      fetches++;
      expect(init.redirect).toBe("manual");
      const headers = { "content-type": "application/json", "cache-control": "max-age=999999" };
      return Promise.resolve(new Response(JSON.stringify(DOCUMENT), { headers }));
    };
    expect(keptClient(ID, 0)).toBeNull();
    expect(await fetchClient(outbound, ID, 0)).toMatchObject({ ok: true });
    expect(keptClient(ID, 3_599_000)).toMatchObject({ id: ID });
    expect(keptClient(ID, 3_600_000)).toBeNull();
    expect(fetches).toBe(1);
  });

  it.each([
    ["a redirect", answering(null, { status: 302, headers: { location: "http://127.0.0.1/" } })],
    ["an error", answering("{}", { status: 500 })],
    ["a page", answering(JSON.stringify(DOCUMENT), { headers: { "content-type": "text/html" } })],
    ["no type", answering(JSON.stringify(DOCUMENT), { headers: {} })],
    ["17 KiB", answering(JSON.stringify({ ...DOCUMENT, more: "x".repeat(17 * 1024) }))],
    ["no connection", () => Promise.reject(new Error("refused"))],
  ])("is refused if the host answers with %s, which is not kept", async (_what, outbound) => {
    const id = "https://bad.example.com/client.json";
    expect(await fetchClient(outbound, id, 0)).toMatchObject({ ok: false });
    expect(keptClient(id, 0)).toBeNull();
  });

  it("is not read to the end if it has none", async () => {
    let pulled = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(4096).fill(32));
      },
      cancel: () => {
        isCancelled = true;
      },
    });
    expect(await fetchClient(answering(endless), ID, 0)).toMatchObject({ ok: false });
    expect([isCancelled, pulled <= DOCUMENT_LIMITS.bytes / 4096 + 3]).toEqual([true, true]);
  });
});

describe("a registered client", () => {
  const sent = {
    client_name: "Agent",
    redirect_uris: ["http://127.0.0.1/cb", "cursor://x/cb"],
    client_secret: "ignored",
  };

  it("is its own id: nothing is stored, and every change of the id is refused", () => {
    const registration = registrationOf(registrationShape.parse(sent));
    const id = clientIdOf(registration, "pepper") ?? "";
    expect(registeredClient(id, "pepper")).toEqual({
      id,
      name: "Agent",
      host: null,
      redirectUris: sent.redirect_uris,
    });
    expect(registeredClient(id, "other pepper")).toBeNull();
    for (let at = 0; at < id.length; at++) {
      const changed = `${id.slice(0, at)}${id[at] === "A" ? "B" : "A"}${id.slice(at + 1)}`;
      expect([at, registeredClient(changed, "pepper")]).toEqual([at, null]);
    }
    for (const text of ["", "cl_", "cl_.", "cl_..", `${id}.`, `${id}=`, id.slice(0, -1)]) {
      expect(registeredClient(text, "pepper")).toBeNull();
    }
  });

  it.each([
    [{}],
    [{ redirect_uris: [] }],
    [{ redirect_uris: ["http://evil.example.com/"] }],
    [{ redirect_uris: "http://127.0.0.1/" }],
    [{ redirect_uris: [1] }],
    [{ ...sent, client_name: 1 }],
  ])("must be valid: %j", (body) => expect(registrationShape.safeParse(body).success).toBe(false));

  it("has an id of bounded length", () => {
    const redirectUris = Array.from({ length: 20 }, (_, n) => `https://a.example/${n}/${"x".repeat(100)}`);
    expect(clientIdOf({ name: "A", redirectUris }, "pepper")).toBeNull();
  });
});

describe("what a client says of itself", () => {
  it("is shown without hidden characters, and in bounds", () => {
    expect(shownName("  Clau\u202ede\n Code\u0000 ")).toBe("Clau de Code");
    expect(shownName("\u202e\u200b")).toBeNull();
    expect(shownName("x".repeat(500))).toHaveLength(100);
  });
});
