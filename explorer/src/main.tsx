import { render } from "preact";
import { onUnauthorized } from "./api/client.ts";
import { worded } from "./api/errors.ts";
import { forget, open } from "./api/session.ts";
import { commandOf } from "./keys.ts";
import { listPart } from "./state/address.ts";
import * as list from "./state/list.ts";
import * as live from "./state/live.ts";
import * as memory from "./state/memory.ts";
import { onAddress, start } from "./state/navigate.ts";
import * as overview from "./state/overview.ts";
import { set } from "./state/store.ts";
import * as theme from "./state/theme.ts";
import { App } from "./ui/App.tsx";
import { obey, whereIs } from "./ui/commands.ts";

const CLOSED = "This page needs a key. Run memorist explore in a terminal and use the page that it opens.";

async function main() {
  const root = document.getElementById("app");
  if (!root) return;
  theme.start();
  root.textContent = "";
  render(<App />, root);
  onUnauthorized((error) => {
    forget();
    set({ session: "closed", closedBecause: error.message });
  });
  try {
    if (!(await open())) return set({ session: "closed", closedBecause: CLOSED });
  } catch (error) {
    return set({ session: "closed", closedBecause: worded(error) });
  }
  onAddress((now, before) => {
    if (now.id !== before.id || now.view !== before.view) set({ dialog: null });
    const typing = now.query !== before.query;
    if (listPart(now) !== listPart(before)) list.load(typing);
    if (now.id !== before.id) void memory.load();
  });
  start();
  set({ session: "open" });
  void overview.load();
  list.load();
  void memory.load();
  live.start();
}

addEventListener("keydown", (event) => {
  const command = commandOf(event, whereIs(event.target));
  if (command && obey(command)) event.preventDefault();
});

void main();
