import { Page } from "../../ui/page.tsx";

export function Explorer() {
  return <Page title="Logs">{null}</Page>;
}
