import { vi } from "vitest";

/** As much of an element as the scripts of the account pages use. */
export class FakeElement {
  textContent = "";
  className = "";
  type = "";
  value = "";
  hidden = false;
  disabled = false;
  tabIndex = 0;
  focused = false;
  children: FakeElement[] = [];
  dataset: Record<string, string> = {};
  readonly #listeners = new Map<string, (event: { preventDefault(): void }) => unknown>();

  get elements() {
    return { namedItem: (name: string) => this.children.find((child) => child.className === `field ${name}`) ?? null };
  }

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

/** A page as the service renders it, its script run at this address. */
export interface OpenPage {
  heading: FakeElement;
  form: FakeElement;
  result: FakeElement;
  reject: FakeElement;
  password: FakeElement;
  /** What the address bar shows. */
  address(): string;
  title(): string;
  copied: string[];
  reloads(): number;
  /** The fragment of the address changes, as when a second link is pasted into the tab. */
  changeHash(): void;
  text(): string;
}

export async function openPage(kind: string, address: string): Promise<OpenPage> {
  vi.resetModules();
  const url = new URL(address, "https://logs.example");
  const [heading, form, result, reject, password] = Array.from({ length: 5 }, () => new FakeElement()) as [
    FakeElement,
    FakeElement,
    FakeElement,
    FakeElement,
    FakeElement,
  ];
  password.className = "field password";
  reject.type = "button";
  if (kind === "reset-password") form.append(password);
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
  let reloads = 0;
  const listeners = new Map<string, () => void>();
  vi.stubGlobal("document", document);
  vi.stubGlobal("location", {
    hash: url.hash,
    search: url.search,
    pathname: url.pathname,
    reload: () => void reloads++,
  });
  vi.stubGlobal("history", {
    replaceState(_state: null, _unused: string, to: string) {
      shown = to;
    },
  });
  vi.stubGlobal("addEventListener", (type: string, listener: () => void) => void listeners.set(type, listener));
  vi.stubGlobal("navigator", { clipboard: { writeText: async (text: string) => void copied.push(text) } });
  const script = kind === "callback" || kind === "invitation" ? kind : "account";
  await import(new URL(`../../../scripts/pages/${script}.js`, import.meta.url).pathname);
  return {
    heading,
    form,
    result,
    reject,
    password,
    address: () => shown,
    title: () => document.title,
    copied,
    reloads: () => reloads,
    changeHash: () => listeners.get("hashchange")?.(),
    text: () => result.children.map(({ textContent }) => textContent).join(" | "),
  };
}
