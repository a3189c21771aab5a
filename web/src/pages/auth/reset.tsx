import { Page } from "../../ui/page.tsx";

export function Reset() {
  return <Page title="Reset">{null}</Page>;
}
