import { useEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { ApiFailure, unreachable } from "../../api/failure.ts";
import { useLoad } from "../../lib/load.ts";
import { useTitle } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { NotFound } from "../not-found.tsx";
import css from "./docs.module.css";
import { Markdown } from "./markdown.tsx";

/** Documents for users, by what they are about. Others are reached by links. */
const GROUPS: readonly { title: string; documents: readonly (readonly [name: string, title: string])[] }[] = [
  {
    title: "Logs",
    documents: [
      ["query-language", "Query language"],
      ["logs", "Send and search"],
      ["tail", "Live tail"],
      ["ledger", "Missing entries"],
      ["files", "Exports and files"],
    ],
  },
  {
    title: "Sources",
    documents: [
      ["client/README", "Client library"],
      ["doors", "Other clients"],
    ],
  },
  {
    title: "Tools",
    documents: [
      ["console", "Console"],
      ["cli", "Terminal"],
      ["mcp", "Agents (MCP)"],
      ["grafana", "Grafana"],
      ["sandbox", "Sandbox"],
    ],
  },
  {
    title: "Alerts",
    documents: [
      ["alerts", "Alerts"],
      ["notifications", "Notifications"],
    ],
  },
  {
    title: "Workspaces",
    documents: [
      ["workspaces", "Members and roles"],
      ["limits", "Limits"],
      ["accounts", "Accounts"],
    ],
  },
];

/** A document of the service, with the list of those for users. */
export function DocumentPage() {
  const { path } = useLocation();
  const { data, failure, reload } = useLoad(path, (signal) => loadDocument(path, signal));
  useTitle(data?.split("\n", 1)[0]?.replace(/^#+ /, "") ?? "Documents");
  const here = useRef<HTMLAnchorElement>(null);
  // On a small screen the list scrolls: bring the current one into view.
  useEffect(() => here.current?.scrollIntoView({ block: "nearest", inline: "center" }), [path]);
  useEffect(() => {
    if (data === null) return;
    // The browser looks for the heading before the document is there.
    const anchor = anchorOf(location.hash);
    if (anchor === "") scrollTo(0, 0);
    else document.getElementById(anchor)?.scrollIntoView();
  }, [data]);
  if (failure?.status === 404) return <NotFound />;
  return (
    <div class={css.page}>
      <nav class={css.nav} aria-label="Documents">
        {GROUPS.map(({ title, documents }) => (
          <div key={title} class={css.group}>
            <span>{title}</span>
            {documents.map(([name, label]) => {
              const to = `/docs/${name}.md`;
              const isCurrent = to === path;
              return (
                <a key={name} href={to} {...(isCurrent ? { ref: here, "aria-current": "page" as const } : {})}>
                  {label}
                </a>
              );
            })}
          </div>
        ))}
        <div class={css.group}>
          <span>API</span>
          <a href="/docs">API reference</a>
        </div>
      </nav>
      <article class={css.document}>
        {failure ? <Failure failure={failure} onRetry={reload} /> : null}
        {data === null ? failure ? null : <Loading /> : <Markdown text={data} base={location.origin + path} />}
      </article>
    </div>
  );
}

/** The id that a fragment names. One that cannot be decoded, such as `#100%`, is taken as it is, as browsers do. */
function anchorOf(hash: string): string {
  const text = hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function loadDocument(path: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(path, { headers: { Accept: "text/markdown" }, signal }).catch(() => {
    throw unreachable();
  });
  if (response.ok) return response.text();
  throw new ApiFailure("The document could not be loaded.", { code: "DOCUMENT", status: response.status });
}
