import { useEffect, useRef, useState } from "preact/hooks";

interface Item {
  label: string;
  danger?: boolean;
  act: () => void;
}

/** What is done less often: a button that opens it, closed by a choice, by Escape, or from anywhere else. */
export function Menu({ label, items }: { label: string; items: Item[] }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const leave = (event: Event) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    for (const name of ["pointerdown", "focusin"]) addEventListener(name, leave);
    return () => {
      for (const name of ["pointerdown", "focusin"]) removeEventListener(name, leave);
    };
  }, [open]);
  const close = () => {
    setOpen(false);
    box.current?.querySelector("button")?.focus();
  };
  return (
    <div ref={box} class="menu" onKeyDown={(event) => {
      if (event.key !== "Escape" || !open) return;
      event.stopPropagation();
      close();
    }}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>{label}</button>
      {open && (
        <div class="items">
          {items.map((item) => (
            <button key={item.label} type="button" class={item.danger ? "danger" : ""} onClick={() => {
              close();
              item.act();
            }}>{item.label}</button>
          ))}
        </div>
      )}
    </div>
  );
}
