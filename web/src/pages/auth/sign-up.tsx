import { Page } from "../../ui/page.tsx";

export function SignUp() {
  return <Page title="Make an account">{null}</Page>;
}
