import { buttonClass } from "../../ui/button.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";

export function Stranger() {
  return (
    <Page title="Taffrail">
      <Card>
        <p>
          Taffrail keeps the logs of your programs. They send entries with an API key; what was accepted is stored once,
          in order, and found by the next query. Here you search them, follow them live, and manage who and what may
          send.
        </p>
        <Row>
          <a class={buttonClass("primary")} href="/login">
            Sign in
          </a>
          <a class={buttonClass("plain")} href="/auth/sign-up">
            Make an account
          </a>
        </Row>
      </Card>
      <Card title="Without an account">
        <p>The playground has a project that everybody may send to and read from. It is emptied every six hours.</p>
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
