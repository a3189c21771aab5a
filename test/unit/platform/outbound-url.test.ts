import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { urlProblem } from "../../../src/platform/outbound-url.ts";

describe("the URL of a destination", () => {
  it.each([
    "https://hooks.example.com/taffrail?x=1",
    "https://example.com:8443/",
    "https://93.184.216.34/",
    "https://[2606:2800:220:1::1]/",
    "https://bücher.example.org/",
  ])("may be %s", (url) => expect(urlProblem(url, "public")).toBeNull());

  it.each([
    "http://hooks.example.com/",
    "ftp://example.com/",
    "https://user:pass@example.com/",
    "https://user@example.com/",
    "https://example.com/#a",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://0.0.0.0/",
    "https://10.1.2.3/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://224.0.0.1/",
    "https://240.0.0.1/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::127.0.0.1]/",
    "https://[::a9fe:a9fe]/",
    "https://[::1:0:0]/",
    "https://[4000::1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[fc00::1]/",
    "https://[fe80::1]/",
    "https://[2002:7f00:1::]/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://a.localhost/",
    "https://metadata.google.internal/",
    "https://printer.local/",
    "https://intranet/",
    "https://１２７.0.0.1/",
    "https:///",
    "not a url",
    `https://example.com/${"x".repeat(3000)}`,
  ])("is refused: %s", (url) => expect(urlProblem(url, "public")).toMatch(/^must /));

  it("may name this machine by plain http only if the setting says so", () => {
    for (const url of ["http://127.0.0.1:9000/", "http://localhost:9000/", "http://[::1]:9000/"]) {
      expect([url, urlProblem(url, "loopback")]).toEqual([url, null]);
      expect([url, urlProblem(url, "public")]).toEqual([url, expect.any(String)]);
    }
    for (const url of ["http://10.0.0.1/", "http://example.com/", "http://user@127.0.0.1/"]) {
      expect([url, urlProblem(url, "loopback")]).toEqual([url, expect.any(String)]);
    }
  });

  it("is judged without a fault, whatever the text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.ipV4(), fc.ipV6()), (text) => {
        for (const url of [text, `https://${text}`, `https://[${text}]/`]) urlProblem(url, "public");
      }),
    );
  });
});
