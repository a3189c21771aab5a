import type { Locator } from "playwright-core";

/** Chooses an option of a select of the console by its label, whatever its hint. */
export async function choose(select: Locator, option: string): Promise<void> {
  await select.click();
  const page = select.page();
  await page
    .getByRole("option")
    .filter({ has: page.getByText(option, { exact: true }) })
    .click();
}
