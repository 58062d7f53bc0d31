import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { set } from "../state/store.ts";

/** A modal dialog: the browser keeps the focus within, and gives it back. */
export function Dialog({ title, wide, children }: { title: string; wide?: boolean; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>("textarea, input[type=text], select")?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const close = () => set({ dialog: null });
  return (
    <dialog
      ref={element}
      class={wide ? "wide" : ""}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={close}>✕</button>
      </div>
      {children}
    </dialog>
  );
}
