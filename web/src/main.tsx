// Runs first: secrets must leave the address before any other code runs.
import "./session/link-parameters.ts";
import { render } from "preact";
import "./ui/tokens.css";
import "./ui/base.css";
import { App } from "./app.tsx";
import { reloadIfOutdated } from "./lib/reload-if-outdated.ts";
import { applyTheme } from "./ui/theme.tsx";
import { toast } from "./ui/toasts.tsx";

reloadIfOutdated(() => toast("The service could not be reached. The page opens as soon as it can.", "error"));
applyTheme();
const root = document.getElementById("app");
if (root) render(<App />, root);
