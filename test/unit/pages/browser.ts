import { vi } from "vitest";

/** The members of an element that the scripts of the account pages use. */
export class FakeElement {
  textContent = "";
  className = "";
  type = "";
  hidden = false;
  disabled = false;
  tabIndex = 0;
  focused = false;
  children: FakeElement[] = [];
  dataset: Record<string, string> = {};
  readonly #listeners = new Map<string, (event: { preventDefault(): void }) => unknown>();

  addEventListener(type: string, listener: (event: { preventDefault(): void }) => unknown): void {
    this.#listeners.set(type, listener);
  }

  async dispatch(type: string): Promise<void> {
    await this.#listeners.get(type)?.({ preventDefault() {} });
  }

  querySelectorAll(): FakeElement[] {
    return this.children.filter(({ type }) => type === "button");
  }

  append(child: FakeElement): void {
    this.children.push(child);
  }

  replaceChildren(...children: FakeElement[]): void {
    this.children = children;
  }

  focus(): void {
    this.focused = true;
  }
}

/** A page as the service renders it, with its script run at this address. */
export interface OpenPage {
  heading: FakeElement;
  form: FakeElement;
  result: FakeElement;
  reject: FakeElement;
  /** The content of the address bar. */
  address(): string;
  title(): string;
  copied: string[];
  text(): string;
}

let opened = 0;

export async function openPage(kind: string, address: string): Promise<OpenPage> {
  const url = new URL(address, "https://logs.example");
  const [heading, form, result, reject] = [new FakeElement(), new FakeElement(), new FakeElement(), new FakeElement()];
  reject.type = "button";
  if (kind === "verify-email") form.append(reject);
  const ids: Record<string, FakeElement> = { form, result, ...(kind === "verify-email" ? { reject } : {}) };
  const document = {
    title: "",
    body: { dataset: { kind } },
    querySelector: () => heading,
    getElementById: (id: string) => ids[id] ?? null,
    createElement: () => new FakeElement(),
  };
  const copied: string[] = [];
  let shown = `${url.pathname}${url.search}${url.hash}`;
  vi.stubGlobal("document", document);
  vi.stubGlobal("location", {
    search: url.search,
    pathname: url.pathname,
  });
  vi.stubGlobal("history", {
    replaceState(_state: null, _unused: string, to: string) {
      shown = to;
    },
  });
  vi.stubGlobal("navigator", { clipboard: { writeText: async (text: string) => void copied.push(text) } });
  // Under a name of its own, the script runs again.
  await import(`../../../scripts/pages/account.js?page=${opened++}`);
  return {
    heading,
    form,
    result,
    reject,
    address: () => shown,
    title: () => document.title,
    copied,
    text: () => result.children.map(({ textContent }) => textContent).join(" | "),
  };
}
