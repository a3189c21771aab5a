// The files of `examples/`, so that what the page shows is what the tests run.
import dockerCompose from "../../../../examples/docker/compose.yaml?raw";
import dockerFluentBit from "../../../../examples/docker/fluent-bit.yaml?raw";
import fluentBit from "../../../../examples/fluent-bit/fluent-bit.yaml?raw";
import library from "../../../../examples/start/library.mjs?raw";
import java from "../../../../examples/start/Main.java?raw";
import go from "../../../../examples/start/main.go?raw";
import rust from "../../../../examples/start/main.rs?raw";
import opentelemetry from "../../../../examples/start/opentelemetry.sh?raw";
import node from "../../../../examples/start/send.mjs?raw";
import python from "../../../../examples/start/send.py?raw";
import curl from "../../../../examples/start/send.sh?raw";
import vector from "../../../../examples/vector/vector.yaml?raw";
import { INSTALL_NOTE } from "../../model/client-library.ts";
import type { Language } from "./highlight.ts";

/** How an entry is sent from one language or client. */
export interface Snippet {
  name: string;
  title: string;
  language: Language;
  /** What to do with the text: a command, or the file to store it in. */
  how: string;
  text: string;
  /** Whether the program reads `TAFFRAIL_*` from the environment. */
  readsEnvironment: boolean;
  note?: string;
}

/** Where the entries go. Without a project or a secret the texts have placeholders. */
export interface Target {
  origin: string;
  projectId: string | null;
  secret: string | null;
}

const OFFICIAL = "https://logs.example.com";
const PLACEHOLDER = "sk_...";
const PROJECT_PLACEHOLDER = "proj_...";
/** Address and TLS of the examples of Fluent Bit, which takes no URL. */
const HOST_LINES = /^( *)host: logs\.example\.com\n +port: 443\n +tls: on$/gm;

/** All snippets, filled in. */
export function snippetsOf(target: Target): Snippet[] {
  const read = (
    [name, language]: readonly [string, Language],
    title: string,
    how: string,
    text: string,
    note?: string,
  ): Snippet => ({
    ...{ name, language, title, how, text: filled(text, target) },
    readsEnvironment: true,
    ...(note === undefined ? {} : { note }),
  });
  const configured = (...parts: Parameters<typeof read>): Snippet => ({ ...read(...parts), readsEnvironment: false });
  return [
    read(
      ["node", "js"],
      "Node",
      "Store as send.mjs, then: node send.mjs",
      node,
      "Node 18 or later. Nothing to install.",
    ),
    read(["library", "js"], "Client library", "Store as log.mjs, then: node log.mjs", library, INSTALL_NOTE),
    read(["python", "python"], "Python", "Store as send.py, then: python3 send.py", python),
    read(["go", "go"], "Go", "Store as main.go, then: go run main.go", go),
    read(["java", "java"], "Java", "Store as Main.java, then: java Main.java", java, "Java 11 or later."),
    read(["rust", "rust"], "Rust", "cargo add ureq, store as src/main.rs, then: cargo run", rust),
    configured(["otel", "shell"], "OpenTelemetry", "In the shell that starts the program", opentelemetry),
    read(["vector", "yaml"], "Vector", "Store as /etc/vector/vector.yaml", vector),
    configured(
      ["fluent-bit", "yaml"],
      "Fluent Bit",
      "Store as fluent-bit.yaml, then: fluent-bit -c fluent-bit.yaml",
      fluentBit,
    ),
    configured(
      ["docker", "yaml"],
      "Docker",
      "Store as compose.yaml and fluent-bit.yaml, then: docker compose up",
      `${dockerCompose}\n${dockerFluentBit}`,
      "In a container 127.0.0.1 is the container: use an address of this machine that containers reach.",
    ),
    read(["curl", "shell"], "curl", "In the same shell", curl),
  ];
}

/** Commands that set the variables, for the programs that read them. */
export function environmentOf({ origin, projectId, secret }: Target): string {
  return [
    `export TAFFRAIL_URL=${origin}`,
    `export TAFFRAIL_PROJECT=${projectId ?? PROJECT_PLACEHOLDER}`,
    `export TAFFRAIL_API_KEY=${secret ?? PLACEHOLDER}`,
  ].join("\n");
}

/** Replaces address and key of an example. */
export function filled(text: string, { origin, secret }: Target): string {
  const { protocol, hostname, port } = new URL(origin);
  const isSecure = protocol === "https:";
  return text
    .replaceAll(OFFICIAL, origin)
    .replace(HOST_LINES, (_, indent: string) =>
      [`host: ${hostname}`, `port: ${port === "" ? (isSecure ? 443 : 80) : port}`, `tls: ${isSecure ? "on" : "off"}`]
        .map((line) => indent + line)
        .join("\n"),
    )
    .replaceAll(PLACEHOLDER, secret ?? PLACEHOLDER);
}
