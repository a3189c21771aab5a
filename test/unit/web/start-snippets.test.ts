import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { highlighted, type Language } from "../../../web/src/pages/start/highlight.ts";
import { environmentOf, filled, snippetsOf } from "../../../web/src/pages/start/snippets.ts";

const SECRET = "sk_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gJ6kM9nP2rS5t";
const LOCAL = { origin: "http://127.0.0.1:9450", projectId: "proj_4fGh2Kq9RtXz", secret: SECRET };
const HOSTED = { ...LOCAL, origin: "https://logs.taffrail.test" };

const textOf = (name: string, target = LOCAL) => snippetsOf(target).find((each) => each.name === name)?.text ?? "";

describe("snippets", () => {
  test("exist for every language and client, each once", () => {
    const names = snippetsOf(LOCAL).map(({ title }) => title);
    expect(new Set(names).size).toBe(names.length);
    for (const wanted of [
      ...["Node", "Python", "Go", "Java", "Rust", "OpenTelemetry", "Vector", "Fluent Bit", "Docker", "curl"],
    ]) {
      expect(names).toContain(wanted);
    }
  });

  test("have no placeholder left, and the key only where the program does not read it from the environment", () => {
    for (const { title, text, readsEnvironment } of snippetsOf(LOCAL)) {
      expect(text, title).not.toMatch(/logs\.example\.com|sk_\.\.\./);
      expect(text.includes(SECRET), title).toBe(!readsEnvironment);
      if (readsEnvironment) expect(text, title).toMatch(/TAFFRAIL_|createLogger\(\)/);
    }
    expect(environmentOf(LOCAL)).toContain(`TAFFRAIL_API_KEY=${SECRET}`);
    expect(environmentOf({ ...LOCAL, secret: null })).toContain("TAFFRAIL_API_KEY=sk_...");
  });

  test("configure Fluent Bit with host, port and TLS of the address", () => {
    const outputOf = (name: string, target: typeof LOCAL) => {
      const outputs: unknown[] = parseAllDocuments(textOf(name, target)).map((document) => document.toJS());
      const [first] = outputs;
      expect(first, name).toBeTypeOf("object");
      return JSON.stringify(outputs);
    };
    expect(outputOf("fluent-bit", LOCAL)).toContain('"host":"127.0.0.1","port":9450,"tls":"off"');
    expect(outputOf("fluent-bit", HOSTED)).toContain('"host":"logs.taffrail.test","port":443,"tls":"on"');
    expect(outputOf("vector", HOSTED)).toContain('"uri":"https://logs.taffrail.test/ingest"');
    expect(textOf("docker", HOSTED)).toMatch(/^ +host: logs\.taffrail\.test\n +port: 443\n +tls: on$/m);
  });

  test("are highlighted without a change of their text", () => {
    for (const { title, text, language } of snippetsOf(LOCAL)) {
      const runs = highlighted(text, language);
      expect(runs.map((run) => run.text).join(""), title).toBe(text);
      expect(runs.filter(({ kind }) => kind !== null).length, title).toBeGreaterThan(3);
    }
    const kindOf = (text: string, language: Language, part: string) =>
      highlighted(text, language).find((run) => run.text === part)?.kind;
    expect(kindOf('fetch("https://a.test") // x', "js", '"https://a.test"')).toBe("string");
    expect(kindOf('fetch("https://a.test") // x', "js", "// x")).toBe("comment");
    expect(kindOf("uri: https://a.test/#b\n# note", "yaml", "uri")).toBe("key");
    expect(kindOf("uri: https://a.test/#b\n# note", "yaml", "# note")).toBe("comment");
    expect(kindOf("export A_B=c", "shell", "A_B")).toBe("key");
    expect(kindOf("{ cart: 3 }", "js", "3")).toBe("number");
  });

  test("leave other texts as they are", () => {
    expect(filled("host: logs.example.org\n", LOCAL)).toBe("host: logs.example.org\n");
  });

  test.each(["curl", "otel"])("%s is a valid script of a shell", (name) => {
    const { status, stderr } = spawnSync("sh", ["-n"], { input: textOf(name), encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });
});
