import type { Entry } from "../api/types.ts";
import { openMemory } from "../state/navigate.ts";
import * as drafts from "../state/drafts.ts";
import { set } from "../state/store.ts";
import { ago } from "../text/format.ts";
import { Diff } from "./Diff.tsx";
import { Whole } from "./Text.tsx";

interface ConflictProps {
  mine: string;
  what: string;
  now: Entry;
  again: (version: number) => void;
}

/** Another version is there than the one that was seen: both, and a way on. */
export function Conflict({ mine, what, now, again }: ConflictProps) {
  return (
    <>
      <p>Memory {now.id} was changed {ago(now.updatedAt)}; it is at version {now.version} now. Your edits are not saved yet.</p>
      {mine && (
        <>
          <h3>From theirs to yours</h3>
          <Diff before={now.content} after={mine} />
          <h3>Yours</h3>
          <Whole text={mine} />
        </>
      )}
      <h3>Theirs, version {now.version}</h3>
      <Whole text={now.content} />
      <p class="actions">
        <button type="button" class="primary" onClick={() => {
          set({ dialog: null });
          again(now.version);
        }}>{what} all the same</button>
        {mine && <button type="button" onClick={() => {
          drafts.forget(now.id);
          set({ dialog: { kind: "edit", entry: now } });
        }}>Edit theirs</button>}
        <button type="button" onClick={() => {
          drafts.forget(now.id);
          set({ dialog: null });
          openMemory(now.id);
        }}>Keep theirs</button>
      </p>
    </>
  );
}
