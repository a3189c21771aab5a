import { buttonClass } from "../../ui/button.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";

export function SignedOutHome() {
  return (
    <Page title="Taffrail">
      <Card>
        <p>
          Taffrail stores the logs of your applications: exactly once, in order, and searchable immediately. Search
          them, follow them live, and manage members, API keys and limits.
        </p>
        <Row>
          <a class={buttonClass("primary")} href="/login">
            Sign in
          </a>
          <a class={buttonClass("plain")} href="/auth/sign-up">
            Create account
          </a>
        </Row>
      </Card>
      <Card title="Without an account">
        <p>Try a public project in the playground. It is reset every six hours.</p>
        <Row>
          <a class={buttonClass("plain")} href="/playground">
            Open the playground
          </a>
          <a class={buttonClass("plain")} href="/docs">
            API reference
          </a>
        </Row>
      </Card>
    </Page>
  );
}
