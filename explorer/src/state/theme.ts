// Dark or light: as the system has it, or as was chosen here.

import { announce, get, set } from "./store.ts";

const KEY = "memorist-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function show(theme: "system" | "light" | "dark") {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  set({ theme, dark: theme === "dark" || (theme === "system" && system.matches) });
}

export function start() {
  const chosen = localStorage.getItem(KEY);
  show(chosen === "light" || chosen === "dark" ? chosen : "system");
  system.addEventListener("change", () => show(get().theme));
}

/** To the other one, and back to the system's if that is the same. */
export function toggle() {
  const dark = !get().dark;
  const theme = dark === system.matches ? "system" : dark ? "dark" : "light";
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  show(theme);
  announce(dark ? "Dark" : "Light");
}
