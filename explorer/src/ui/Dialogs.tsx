import { KEYS } from "../keys.ts";
import * as change from "../state/change.ts";
import { useStore } from "../state/store.ts";
import { ago } from "../text/format.ts";
import { Conflict } from "./Conflict.tsx";
import { Dialog } from "./Dialog.tsx";
import { AddForm, EditForm } from "./Edit.tsx";
import { LinkForm } from "./LinkForm.tsx";
import { PurgeForm } from "./Purge.tsx";
import { WhyForm } from "./Why.tsx";

export function Dialogs() {
  const dialog = useStore((state) => state.dialog);
  switch (dialog?.kind) {
    case undefined:
      return null;
    case "help":
      return <Dialog key="help" title="Keys" wide><Help /></Dialog>;
    case "done":
      return <Dialog key="done" title="Change log"><DoneList /></Dialog>;
    case "edit":
      return <Dialog key="edit" title={`Edit memory ${dialog.entry.id}`} wide><EditForm entry={dialog.entry} /></Dialog>;
    case "add":
      return <Dialog key="add" title="New memory" wide><AddForm content={dialog.content} /></Dialog>;
    case "purge":
      return <Dialog key="purge" title={`Purge memory ${dialog.id}`}><PurgeForm id={dialog.id} content={dialog.content} /></Dialog>;
    case "link":
      return <Dialog key="link" title={`Link memory ${dialog.id}`}><LinkForm id={dialog.id} /></Dialog>;
    case "why":
      return <Dialog key="why" title="Explain a missing memory" wide><WhyForm query={dialog.query} /></Dialog>;
    case "conflict":
      return <Dialog key="conflict" title="Edit conflict" wide><Conflict {...dialog} /></Dialog>;
  }
}

const CLEANUP_KEYS: [string, string][] = [
  ["m", "Merge: one text, the others superseded"],
  ["s", "Supersede: the kept one replaces the others"],
  ["b", "Keep both, or keep it"],
];

function Help() {
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  return (
    <>
      <dl class="keys">
        {KEYS.filter(({ writes }) => !writes || !readOnly).map(({ key, does }) => (
          <div key={key}><dt><kbd>{key === "Escape" ? "Esc" : key}</kbd></dt><dd>{does}</dd></div>
        ))}
      </dl>
      {!readOnly && (
        <>
          <h3>In a group of Clean up</h3>
          <dl class="keys">
            {CLEANUP_KEYS.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}
          </dl>
        </>
      )}
      <h3>On the map</h3>
      <dl class="keys">
        <div><dt><kbd>← ↑ ↓ →</kbd></dt><dd>To the nearest point in that direction</dd></div>
        <div><dt><kbd>+ −</kbd></dt><dd>Closer, farther</dd></div>
        <div><dt><kbd>0</kbd></dt><dd>All of it</dd></div>
        <div><dt><kbd>Shift drag</kbd></dt><dd>Draw around an area</dd></div>
      </dl>
      <p class="quiet">Views and searches here are not counted or logged.</p>
    </>
  );
}

function DoneList() {
  const done = useStore((state) => state.done);
  if (done.length === 0) return <p class="quiet">Nothing yet.</p>;
  return (
    <ol class="done">
      {done.map((one) => (
        <li key={one.key}>
          <span class={one.undone ? "undone" : ""}>{one.label}</span> <time class="quiet">{ago(one.at)}</time>
          {one.undone
            ? <span class="tag">undone</span>
            : one.undo
              ? <button type="button" class="push" onClick={() => void change.undo(one)}>Undo</button>
              : <span class="quiet push">cannot be undone</span>}
        </li>
      ))}
    </ol>
  );
}

