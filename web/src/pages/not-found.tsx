import { Page } from "../ui/page.tsx";

export function NotFound() {
  return (
    <Page title="Page not found">
      <p>
        This page does not exist. <a href="/">Go to home page</a>.
      </p>
    </Page>
  );
}
