#!/usr/bin/env node
/**
 * Runs the Firefox of the environment variable FIREFOX for Playwright, whose BiDi client sends commands that releases of Firefox do not
 * have. This program answers them, and passes everything else on. Playwright starts it in place of Firefox.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { WebSocket, WebSocketServer } from "ws";

/** Commands that set what pages are told of the system: themes, motion, contrast. Firefox keeps its own values. */
const UNKNOWN_TO_FIREFOX = new Set(["emulation.setMediaFeaturesOverride"]);
const ANNOUNCEMENT = "WebDriver BiDi listening on ";

const firefox = spawn(process.env.FIREFOX ?? "firefox-esr", process.argv.slice(2), {
  stdio: ["inherit", "inherit", "pipe"],
});
firefox.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
firefox.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => firefox.kill(signal));

createInterface({ input: firefox.stderr }).on("line", (line) => {
  if (line.startsWith(ANNOUNCEMENT)) passOn(line.slice(ANNOUNCEMENT.length));
  else console.error(line);
});

/** @param address where Firefox listens */
function passOn(address) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 }, () => {
    console.error(`${ANNOUNCEMENT}ws://127.0.0.1:${server.address().port}`);
  });
  server.on("connection", (client, { url }) => {
    const browser = new WebSocket(address + url);
    // Messages before the connection to Firefox is open.
    let waiting = [];
    browser.on("open", () => {
      for (const text of waiting) browser.send(text);
      waiting = null;
    });
    client.on("message", (data) => {
      const text = data.toString();
      const { id, method } = JSON.parse(text);
      if (UNKNOWN_TO_FIREFOX.has(method)) client.send(JSON.stringify({ type: "success", id, result: {} }));
      else if (waiting) waiting.push(text);
      else browser.send(text);
    });
    browser.on("message", (data) => client.send(data.toString()));
    for (const [end, other] of [
      [client, browser],
      [browser, client],
    ]) {
      end.on("close", () => other.close());
      end.on("error", () => other.terminate());
    }
  });
}
