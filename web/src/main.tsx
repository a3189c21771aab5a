// Runs first: secrets must leave the address before any other code runs.
import "./session/link-parameters.ts";
import { render } from "preact";
import "./ui/tokens.css";
import "./ui/fonts.css";
import "./ui/base.css";
import "./ui/inputs.css";
import { App } from "./app.tsx";
import { reloadIfOutdated } from "./lib/reload-if-outdated.ts";
import { delayFonts } from "./ui/fonts.ts";
import { applyAppearance } from "./ui/theme.tsx";
import { preloadLater } from "./ui/use-lazy.ts";

reloadIfOutdated();
applyAppearance();
delayFonts();
preloadLater();
const root = document.getElementById("app");
if (root) render(<App />, root);
