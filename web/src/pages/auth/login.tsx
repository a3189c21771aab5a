import { Page } from "../../ui/page.tsx";

export function Login() {
  return <Page title="Sign in">{null}</Page>;
}
