import timers from "node:timers";
import { beforeAll, expect } from "vitest";
import "./raw-texts.ts";

// All files run in one process, and vitest restores the spies of a file after its last hook: a spy on a fake timer
// would leave the fake one, and block the files that follow.
beforeAll(() => {
  for (const name of ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] as const)
    expect(globalThis[name], `${name}, as the file before left it`).toBe(timers[name]);
});
