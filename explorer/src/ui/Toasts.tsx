import * as change from "../state/change.ts";
import { set, useStore } from "../state/store.ts";

export function Toasts() {
  const toast = useStore((state) => state.toast);
  if (!toast) return null;
  return (
    <aside class={toast.error ? "toast error" : "toast"} aria-label="Note">
      <span role={toast.error ? "alert" : undefined}>{toast.text}</span>
      {toast.done && <button type="button" aria-keyshortcuts="u" onClick={() => void change.undo(toast.done ?? undefined)}>Undo</button>}
      <button type="button" class="icon" aria-label="Close the note" onClick={() => set({ toast: null })}>✕</button>
    </aside>
  );
}
