import { user } from "../session/session.ts";
import { buttonClass } from "../ui/button.tsx";
import { Card, Page, Row } from "../ui/page.tsx";

/** Shown at a path that neither the console nor the API has. */
export function NotFound() {
  return (
    <Page title="Page not found" narrow>
      <Card>
        <p>
          Nothing is at <code>{location.pathname}</code>. The link may be old, or mistyped.
        </p>
        <Row>
          <a class={buttonClass("primary")} href="/">
            {user.value === null ? "Go to home page" : "Your workspaces"}
          </a>
          <a class={buttonClass("plain")} href="/docs">
            API reference
          </a>
        </Row>
      </Card>
    </Page>
  );
}
