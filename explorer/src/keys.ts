// What each key does. Letters work anywhere but in a field.

export type Command =
  | "search" | "next" | "previous" | "open" | "edit" | "delete" | "why" | "undo" | "help" | "close" | "add" | "theme"
  | "list" | "map" | "timeline" | "searches" | "cleanup";

export interface Key {
  key: string;
  command: Command;
  does: string;
  /** Writes: hidden in a store that can only be read. */
  writes?: boolean;
}

export const KEYS: Key[] = [
  { key: "/", command: "search", does: "Search" },
  { key: "j", command: "next", does: "Next in the list" },
  { key: "k", command: "previous", does: "Previous in the list" },
  { key: "Enter", command: "open", does: "Open it" },
  { key: "#", command: "why", does: "Explain a missing memory" },
  { key: "e", command: "edit", does: "Edit the open memory", writes: true },
  { key: "x", command: "delete", does: "Delete the open memory", writes: true },
  { key: "n", command: "add", does: "Save a new memory", writes: true },
  { key: "u", command: "undo", does: "Undo the last change", writes: true },
  { key: "1", command: "list", does: "List" },
  { key: "2", command: "map", does: "Map" },
  { key: "3", command: "timeline", does: "Timeline" },
  { key: "4", command: "searches", does: "Searches" },
  { key: "5", command: "cleanup", does: "Clean up" },
  { key: "t", command: "theme", does: "Dark or light" },
  { key: "?", command: "help", does: "All keys" },
  { key: "Escape", command: "close", does: "Close dialog" },
];

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing?: boolean;
}

/** Where the focus is. */
export interface Where {
  /** In a field that takes text. */
  typing: boolean;
  /** In a button, link or other control, where Enter has its own meaning. */
  control: boolean;
  dialog: boolean;
}

/** The command of a key, if it has one there. */
export function commandOf(pressed: Pressed, where: Where): Command | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.isComposing) return null;
  const command = KEYS.find(({ key }) => key === pressed.key)?.command ?? null;
  if (command === "close") return command;
  if (where.typing || where.dialog) return null;
  if (command === "open" && where.control) return null;
  return command;
}
