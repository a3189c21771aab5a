import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import axe from "axe-core";
import { Key, type WebDriver, type WebElement } from "selenium-webdriver";

/** Queries of Testing Library by roles, labels and text, as a script for the page. */
const QUERIES = readFileSync(
  createRequire(import.meta.url).resolve("@testing-library/dom/dist/@testing-library/dom.umd.min.js"),
  "utf8",
);
const PATIENCE_MS = 20_000;
const POLL_MS = 100;
/** More than the tab stops of any page before an element that a flow wants. */
const MOST_STOPS = 60;

/** A text exactly, or a pattern. */
export type Wanted = string | RegExp;

interface Query {
  by: "Role" | "LabelText" | "Text";
  value: Wanted;
  name?: Wanted;
}

/** A page of a browser that only speaks WebDriver: finds elements as users do, and waits for them. */
export class BrowserPage {
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

  /** Waits until the address fulfils a condition. */
  async address(what: string, holds: (address: URL) => boolean): Promise<void> {
    await this.until(`the address of ${what}`, async () => holds(await this.path()));
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
      const found = await this.role(role, name, inside);
      await this.#show(found);
      await found.click();
      return true;
    });
  }

  /** Scrolls to an element and draws it there: WebKitGTK's driver clicks what was at its place before its own scrolling. */
  async #show(element: WebElement): Promise<void> {
    await this.driver.executeAsyncScript(
      `const [element, done] = arguments;
      element.scrollIntoView({ block: "nearest" });
      requestAnimationFrame(() => requestAnimationFrame(() => done()));`,
      element,
    );
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

  /** Presses a key while Shift is down. */
  async pressShift(key: string): Promise<void> {
    await this.driver.actions().keyDown(Key.SHIFT).sendKeys(key).keyUp(Key.SHIFT).perform();
  }

  value(input: WebElement): Promise<string> {
    return this.driver.executeScript("return arguments[0].value", input);
  }

  async focus(element: WebElement): Promise<void> {
    await this.driver.executeScript("arguments[0].focus()", element);
  }

  /** Presses Tab until the element that has the focus has a label, a placeholder or a text, exactly. */
  async tabTo(name: string): Promise<void> {
    for (let stop = 0; stop < MOST_STOPS; stop++) {
      await this.press(Key.TAB);
      const focused: string = await this.driver.executeScript(`
        const { activeElement } = document;
        return activeElement.ariaLabel ?? activeElement.labels?.[0]?.textContent ?? activeElement.textContent;
      `);
      if (focused === name) return;
    }
    throw new Error(`Tab does not reach ${name}`);
  }

  /** Whether an element is in the page, now. */
  async has(role: string, name: Wanted, inside?: WebElement): Promise<boolean> {
    return (await this.#search({ by: "Role", value: role, name }, inside)) !== null;
  }

  /** Waits until an element is no longer in the page. */
  async gone(role: string, name: Wanted): Promise<void> {
    await this.until(`the end of ${role} ${name}`, async () => !(await this.has(role, name)));
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

  /** Text of the element that has the focus; `null` if it is not of the selector. */
  active(selector: string): Promise<string | null> {
    return this.driver.executeScript(
      "const { activeElement } = document; return activeElement?.matches(arguments[0]) ? activeElement.textContent : null",
      selector,
    );
  }

  /**
   * Waits until a condition holds, and returns what it returned. An error of the condition, `false`, `null` and an empty list mean not yet.
   * @throws with the last error
   */
  async until<T>(what: string, holds: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + PATIENCE_MS;
    let last: unknown;
    while (Date.now() < deadline) {
      try {
        const held = await holds();
        if (Array.isArray(held) ? held.length > 0 : held) return held;
      } catch (error) {
        last = error;
      }
      await sleep(POLL_MS);
    }
    throw new Error(`waited in vain for ${what}`, { cause: last });
  }

  /** Runs steps in a window of 360 x 740 CSS pixels. A browser's main window cannot be as narrow. The page needs a heading. */
  async onPhone(steps: () => Promise<void>): Promise<void> {
    const wide = await this.driver.getWindowHandle();
    // Browsers open windows for clicks alone.
    await this.driver.executeScript(
      "addEventListener('click', () => open('about:blank', 'phone', 'popup,width=360,height=740'), { once: true })",
    );
    await (await this.role("heading")).click();
    let narrow: string | undefined;
    await this.until("the window", async () => {
      narrow = (await this.driver.getAllWindowHandles()).find((handle) => handle !== wide);
      return narrow !== undefined;
    });
    await this.driver.switchTo().window(narrow ?? wide);
    try {
      await steps();
    } finally {
      await this.driver.close();
      await this.driver.switchTo().window(wide);
    }
  }

  /** Waits until nothing loads and no transition runs. What arrives may move what is below it, and what was loading is dimmed for a moment longer. */
  async idle(): Promise<void> {
    await this.until("an idle page", () =>
      this.driver.executeScript<boolean>(`
        const isMoving = document.getAnimations().some((each) => each.transitionProperty !== undefined);
        return !isMoving && document.querySelector("[aria-busy=true]") === null;
      `),
    );
  }

  /** CSS pixels by which the page is wider than its window. */
  overflow(): Promise<number> {
    return this.driver.executeScript(
      "return document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
  }

  /**
   * Violations that axe-core finds once nothing loads, because what is loading is dimmed. Empty is good.
   * @param isBusy whether the page has busy elements that stay so
   */
  async violations({ isBusy = false } = {}): Promise<string[]> {
    if (!isBusy) await this.idle();
    await this.driver.executeScript(axe.source);
    return this.driver.executeAsyncScript(`
      const done = arguments[0];
      window.axe.run(document).then(({ violations }) => done(
        violations.map(({ id, nodes }) => id + ": " + nodes.map((node) => node.target).join(", ")),
      ));
    `);
  }

  async #find(query: Query, inside?: WebElement): Promise<WebElement> {
    const wanted = query.name === undefined ? query.value : `${query.value} ${query.name}`;
    const found = await this.until(`${query.by} ${wanted}`, () => this.#search(query, inside));
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
