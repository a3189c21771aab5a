import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { error, Session, WebDriver } from "selenium-webdriver";
import type { Command } from "selenium-webdriver/lib/command.js";

/** The commands that the flows use: Selenium's names and Marionette's, whose parameters are those of WebDriver. */
const COMMANDS: Readonly<Record<string, string>> = {
  actions: "WebDriver:PerformActions",
  clickElement: "WebDriver:ElementClick",
  close: "WebDriver:CloseWindow",
  executeAsyncScript: "WebDriver:ExecuteAsyncScript",
  executeScript: "WebDriver:ExecuteScript",
  findElements: "WebDriver:FindElements",
  get: "WebDriver:Navigate",
  getElementAttribute: "WebDriver:GetElementAttribute",
  getElementText: "WebDriver:GetElementText",
  goBack: "WebDriver:Back",
  getCurrentUrl: "WebDriver:GetCurrentURL",
  getCurrentWindowHandle: "WebDriver:GetWindowHandle",
  getWindowHandles: "WebDriver:GetWindowHandles",
  refresh: "WebDriver:Refresh",
  quit: "Marionette:Quit",
  screenshot: "WebDriver:TakeScreenshot",
  sendKeysToElement: "WebDriver:ElementSendKeys",
  setTimeout: "WebDriver:SetTimeouts",
  setWindowRect: "WebDriver:SetWindowRect",
  switchToWindow: "WebDriver:SwitchToWindow",
};

/** An error of WebDriver. */
type Fault = Record<"error" | "message", string>;
/** Type (always 1), number of the command, error, result. */
type Response = [1, number, Fault | null, unknown];

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Firefox without geckodriver: sends Selenium's commands to the server for them that each Firefox contains. */
export async function connectToMarionette(port: number): Promise<WebDriver> {
  const socket = createConnection({ host: "127.0.0.1", port });
  await once(socket, "connect");
  const send = exchange(socket);
  // SAFETY: the response to NewSession is that of WebDriver.
  const { sessionId } = (await send("WebDriver:NewSession", {})) as { sessionId: string };
  const execute = async (command: Command): Promise<unknown> => {
    const name = COMMANDS[command.getName()];
    if (name === undefined) throw new error.UnknownCommandError(`Add ${command.getName()} to ${import.meta.filename}.`);
    const { sessionId: _, id, ...parameters } = command.getParameters();
    return send(name, {
      ...parameters,
      // Selenium names an element by an object, Marionette by the value in it.
      ...(id === undefined ? {} : { id: Object.values(id)[0] }),
      // Scripts of a sandbox with a name share their globals until the page changes.
      ...(typeof parameters.script === "string" ? { sandbox: "flows" } : {}),
    });
  };
  return new WebDriver(new Session(sessionId, {}), { execute });
}

/** Messages are JSON, each behind its length in bytes and a colon. The first one is a greeting. */
function exchange(socket: Socket): (name: string, parameters: object) => Promise<unknown> {
  const waiting = new Map<number, Waiting>();
  let received = Buffer.alloc(0);
  let sent = 0;
  const settle = ([, id, fault, result]: Response): void => {
    const command = waiting.get(id);
    waiting.delete(id);
    if (fault) command?.reject(decoded(fault));
    else command?.resolve(isWrapped(result) ? result.value : result);
  };
  socket.on("data", (data) => {
    received = Buffer.concat([received, data]);
    for (;;) {
      const colon = received.indexOf(":");
      const end = colon + 1 + Number(received.subarray(0, colon));
      if (colon < 0 || received.length < end) return;
      const message: unknown = JSON.parse(received.toString("utf8", colon + 1, end));
      received = received.subarray(end);
      // SAFETY: Firefox sends no other lists, and the greeting is not one.
      if (Array.isArray(message)) settle(message as Response);
    }
  });
  socket.on("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("Firefox closed the connection."));
    waiting.clear();
  });
  return (name, parameters) =>
    new Promise((resolve, reject) => {
      const id = ++sent;
      waiting.set(id, { resolve, reject });
      const text = JSON.stringify([0, id, name, parameters]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
}

const isWrapped = (result: unknown): result is { value: unknown } =>
  typeof result === "object" && result !== null && "value" in result;

function decoded(fault: Fault): Error {
  try {
    return error.throwDecodedError(fault);
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(fault.message);
  }
}
