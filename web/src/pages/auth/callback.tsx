import { Page } from "../../ui/page.tsx";

export function Callback() {
  return <Page title="Signing in">{null}</Page>;
}
