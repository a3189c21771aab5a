import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import axe from "axe-core";
import type { WebDriver, WebElement } from "selenium-webdriver";

/** Queries of Testing Library by roles, labels and text, as a script for the page. */
const QUERIES = readFileSync(
  createRequire(import.meta.url).resolve("@testing-library/dom/dist/@testing-library/dom.umd.min.js"),
  "utf8",
);
const PATIENCE_MS = 20_000;
const POLL_MS = 100;

/** A text exactly, or a pattern. */
export type Wanted = string | RegExp;

interface Query {
  by: "Role" | "LabelText" | "Text";
  value: Wanted;
  name?: Wanted;
}

/** A page of a browser that only speaks WebDriver: finds elements as users do, and waits for them. */
export class WebkitPage {
  readonly driver: WebDriver;
  readonly #url: string;

  /** @param url of the service */
  constructor(driver: WebDriver, url: string) {
    this.driver = driver;
    this.#url = url;
  }

  async goto(path: string): Promise<void> {
    await this.driver.get(new URL(path, this.#url).href);
  }

  async path(): Promise<URL> {
    return new URL(await this.driver.getCurrentUrl());
  }

  /** Waits for an element by role and name. @param inside the part of the page, such as a dialog */
  role(role: string, name?: Wanted, inside?: WebElement): Promise<WebElement> {
    return this.#find({ by: "Role", value: role, ...(name === undefined ? {} : { name }) }, inside);
  }

  label(label: Wanted, inside?: WebElement): Promise<WebElement> {
    return this.#find({ by: "LabelText", value: label }, inside);
  }

  text(text: Wanted, inside?: WebElement): Promise<WebElement> {
    return this.#find({ by: "Text", value: text }, inside);
  }

  async click(role: string, name: Wanted, inside?: WebElement): Promise<void> {
    await this.until(`a click on ${role} ${name}`, async () => {
      // An element may be replaced between the search and the click.
      await (await this.role(role, name, inside)).click();
      return true;
    });
  }

  /** Replaces the text of an input. */
  async fill(input: WebElement, text: string): Promise<void> {
    await input.click();
    // The keys of "select all" depend on the system.
    await this.driver.executeScript("arguments[0].select()", input);
    await input.sendKeys(text);
  }

  /** Types into the element that has the focus, or presses keys in the element that has the focus. */
  async press(...keys: string[]): Promise<void> {
    await this.driver
      .actions()
      .sendKeys(...keys)
      .perform();
  }

  /** Chooses an option of a select of the console. */
  async choose(select: WebElement, option: Wanted): Promise<void> {
    await select.click();
    await this.click("option", option);
  }

  /** Texts of the elements that a selector finds. */
  texts(selector: string): Promise<string[]> {
    return this.driver.executeScript(
      "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)",
      selector,
    );
  }

  /** Waits until a condition holds. An error of the condition means not yet. @throws with the last error */
  async until(what: string, holds: () => Promise<unknown>): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    let last: unknown;
    while (Date.now() < deadline) {
      try {
        if (await holds()) return;
      } catch (error) {
        last = error;
      }
      await sleep(POLL_MS);
    }
    throw new Error(`waited in vain for ${what}`, { cause: last });
  }

  /** CSS pixels by which the page is wider than its window. */
  overflow(): Promise<number> {
    return this.driver.executeScript(
      "return document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
  }

  /** Violations that axe-core finds once nothing loads, because what is loading is dimmed. Empty is good. */
  async axeFaults(): Promise<string[]> {
    await this.until("an idle page", async () => (await this.texts("[aria-busy=true]")).length === 0);
    await this.driver.executeScript(axe.source);
    return this.driver.executeAsyncScript(`
      const done = arguments[0];
      axe.run(document).then(({ violations }) => done(violations.map(({ id, nodes }) => id + ": " + nodes.map((node) => node.target).join(", "))));
    `);
  }

  async #find(query: Query, inside?: WebElement): Promise<WebElement> {
    let found: WebElement | null = null;
    const wanted = query.name === undefined ? query.value : `${query.value} ${query.name}`;
    await this.until(`${query.by} ${wanted}`, async () => {
      found = await this.#search(query, inside);
      return found !== null;
    });
    if (found === null) throw new Error(`${wanted} is missing`);
    return found;
  }

  async #search({ by, value, name }: Query, inside?: WebElement): Promise<WebElement | null> {
    const sent = (wanted?: Wanted) =>
      wanted instanceof RegExp ? { source: wanted.source, flags: wanted.flags } : { text: wanted };
    const isReady = await this.driver.executeScript("return typeof TestingLibraryDom === 'object'");
    if (!isReady) await this.driver.executeScript(QUERIES);
    return this.driver.executeScript(
      `
      const [by, value, name, inside] = arguments;
      const wanted = ({ source, flags, text }) => (source === undefined ? text : new RegExp(source, flags));
      const options = name.text === undefined && name.source === undefined ? {} : { name: wanted(name) };
      const all = TestingLibraryDom["queryAllBy" + by](inside ?? document.body, wanted(value), options);
      return all.find((each) => each.checkVisibility()) ?? null;
      `,
      by,
      sent(value),
      sent(name),
      inside ?? null,
    );
  }
}
