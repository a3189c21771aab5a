import { Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Nothing here">
      <p>
        This address is no page of the console. <a href="/">Go to the start</a>.
      </p>
    </Page>
  );
}
