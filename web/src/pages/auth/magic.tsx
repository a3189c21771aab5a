import { Page } from "../../ui/page.tsx";

export function Magic() {
  return <Page title="Sign in">{null}</Page>;
}
