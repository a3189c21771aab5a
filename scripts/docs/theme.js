// The theme that the reader chose in the console, before anything is drawn. Swagger UI's own dark style covers what the
// reference's style sheet leaves alone.
const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  const chosen = localStorage.getItem("taffrail.theme");
  const isChosen = chosen === "light" || chosen === "dark";
  root.dataset.theme = isChosen ? chosen : prefersDark.matches ? "dark" : "light";
  root.classList.toggle("dark-mode", root.dataset.theme === "dark");
}

applyTheme();
prefersDark.addEventListener("change", applyTheme);
addEventListener("storage", applyTheme);
