// What keys do, wherever the focus is.

import type { Command, Where } from "../keys.ts";
import * as change from "../state/change.ts";
import { closeMemory, go, openMemory } from "../state/navigate.ts";
import { readOnly } from "../state/overview.ts";
import { readFrom } from "../state/scrolled.ts";
import { get, set } from "../state/store.ts";
import * as theme from "../state/theme.ts";

/** What keys a part of the page takes before all others, while it is shown. */
type Taker = (command: Command) => boolean;
const takers: Taker[] = [];

export function take(taker: Taker): () => void {
  takers.unshift(taker);
  return () => {
    takers.splice(takers.indexOf(taker), 1);
  };
}

const FIELDS = "input:not([type=checkbox], [type=radio], [type=range], [type=button]), textarea, select, [contenteditable]";

export function whereIs(target: EventTarget | null): Where {
  const element = target instanceof Element ? target : null;
  return {
    typing: element?.matches(FIELDS) ?? false,
    control: element?.closest("a, button, summary, input, [role=application]") != null,
    dialog: get().dialog !== null,
  };
}

/** The rows about here: one that is held may be far away. */
const rows = () =>
  [...document.querySelectorAll<HTMLElement>("[data-row]")].filter((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > -innerHeight && top < 2 * innerHeight;
  });

function move(step: 1 | -1): boolean {
  const all = rows();
  if (all.length === 0) return false;
  const at = all.findIndex((row) => row === document.activeElement);
  const selected = all.findIndex((row) => row.getAttribute("aria-current") === "true");
  const from = at >= 0 ? at : selected;
  // Else the first that is seen whole.
  const top = readFrom();
  const first = all.findIndex((row) => row.getBoundingClientRect().top >= top);
  const next = from < 0 ? Math.max(0, first) : Math.max(0, Math.min(all.length - 1, from + step));
  all[next]?.focus();
  all[next]?.scrollIntoView({ block: "nearest" });
  return true;
}

/** Does it; whether there was anything to do. */
export function obey(command: Command): boolean {
  if (get().session !== "open") return false;
  if (takers.some((taker) => taker(command))) return true;
  const { memory, dialog } = get();
  const focused = Number(document.activeElement?.getAttribute("data-row"));
  if ((command === "edit" || command === "delete") && Number.isInteger(focused) && focused > 0 && focused !== memory?.id) {
    // What is changed is seen first.
    openMemory(focused);
    change.say(`This is memory ${focused}. Press ${command === "edit" ? "e to edit" : "x to delete"} it.`);
    return true;
  }
  const entry = memory?.result?.entry;
  const present = entry && !memory.result?.recoverable;
  switch (command) {
    case "search":
      document.getElementById("query")?.focus();
      return true;
    case "next":
      return move(1);
    case "previous":
      return move(-1);
    case "open":
      return false;
    case "edit":
      if (!present || readOnly()) return false;
      set({ dialog: { kind: "edit", entry } });
      return true;
    case "delete":
      if (!present || readOnly()) return false;
      void change.remove(entry);
      return true;
    case "add":
      if (readOnly()) return false;
      set({ dialog: { kind: "add", content: "" } });
      return true;
    case "why":
      set({ dialog: { kind: "why", query: get().address.query } });
      return true;
    case "undo":
      if (readOnly()) return false;
      void change.undo();
      return true;
    case "help":
      set({ dialog: { kind: "help" } });
      return true;
    case "theme":
      theme.toggle();
      return true;
    case "close":
      return close(dialog !== null);
    default:
      go({ view: command });
      return true;
  }
}

function close(dialog: boolean): boolean {
  if (dialog) {
    set({ dialog: null });
    return true;
  }
  const { activeElement } = document;
  if (activeElement instanceof HTMLInputElement && activeElement.id === "query") {
    if (activeElement.value) return false;
    activeElement.blur();
    return true;
  }
  if (get().toast) {
    set({ toast: null });
    return true;
  }
  if (get().address.id === null) return false;
  leaveMemory();
  return true;
}

/** Back to where it was opened. */
export function leaveMemory() {
  const { id } = get().address;
  closeMemory();
  // Once what it covered can be focused again.
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-row="${id}"]`)?.focus());
}
