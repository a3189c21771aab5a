import { useEffect } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import { buttonClass } from "../../../ui/button.tsx";
import { showFonts } from "../../../ui/fonts.ts";
import { Row, useTitle } from "../../../ui/page.tsx";
import { StackedBars } from "../../../ui/stacked-bars.tsx";
import { Failure } from "../../../ui/states.tsx";
import { useAfterPaint } from "../../../ui/use-after-paint.ts";
import { LiveEntries } from "./live-entries.tsx";
import { loadPreview } from "./preview.ts";
import { Promises } from "./promises.tsx";
import { SampleQuery } from "./sample-query.tsx";
import css from "./visitor.module.css";

/** The home page of a visitor: what the product is, with a view of the sandbox. */
export function VisitorHome() {
  useTitle("Taffrail");
  const { data, failure, reload } = useLoad("preview", loadPreview);
  const isPainted = useAfterPaint(data !== null || failure !== null);
  useEffect(() => {
    if (isPainted) showFonts();
  }, [isPainted]);
  return (
    <div class={css.page}>
      <div class={css.hero}>
        <div class={css.claim}>
          <h1>Structured logs that are all there</h1>
          <p>
            Send entries from any language. Search them the moment they are accepted, follow them live, chart them, and
            prove that none is missing.
          </p>
          <Row>
            <a class={buttonClass("primary")} href="/auth/sign-up">
              Create account
            </a>
            <a class={buttonClass("plain")} href="/playground">
              Open the playground
            </a>
            <a class={buttonClass("quiet")} href="/login">
              Sign in
            </a>
          </Row>
          {data && data.levels.names.length > 0 ? (
            <StackedBars
              label="Entries of the sandbox by level, in spans of 10 minutes"
              {...data.levels}
              ends={[data.levels.names[0] ?? "", data.levels.names.at(-1) ?? ""]}
            />
          ) : null}
        </div>
        {data ? <LiveEntries entries={data.entries} /> : <div class={css.live} aria-hidden="true" />}
      </div>
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data ? <SampleQuery query={data.query} table={data.table} /> : <div class={css.query} aria-hidden="true" />}
      <Promises />
      <p class={css.foot}>
        <a href="/docs/logs.md">Documents</a>
        <a href="/docs">API reference</a>
        <a href="/openapi.json">OpenAPI</a>
        <a href="/llms.txt">For coding agents</a>
      </p>
    </div>
  );
}
