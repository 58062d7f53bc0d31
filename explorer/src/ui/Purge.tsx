// The one change that cannot be undone: the text to be removed is typed.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api/client.ts";
import type { FindHit } from "../api/types.ts";
import * as change from "../state/change.ts";
import { set } from "../state/store.ts";
import { counted } from "../text/format.ts";
import { beginning, plain } from "../text/visible.ts";
import { Name, Plain } from "./Text.tsx";

const WORDS = 4;
/** A shorter text is in too many memories. */
const SHORTEST = 4;

/** What is typed to confirm: the first words of a text, in the form in which they are shown. */
export const confirmation = (content: string) => plain(content.slice(0, 400)).split(" ").slice(0, WORDS).join(" ").slice(0, 60).trim();

export function PurgeForm({ id, content }: { id: number; content: string }) {
  const [all, setAll] = useState(false);
  return (
    <>
      <p>
        This removes it with all versions, links and the searches that found it from every file of the store.{" "}
        <b>It cannot be undone.</b> To only hide a memory from searches, delete it instead.
      </p>
      <fieldset class="choices">
        <legend class="sr-only">What to purge</legend>
        <label class="choice"><input type="radio" name="what" checked={!all} onChange={() => setAll(false)} /> Memory {id}</label>
        <label class="choice"><input type="radio" name="what" checked={all} onChange={() => setAll(true)} /> Every memory and version with a text</label>
      </fieldset>
      {all ? <ByText /> : <ByWords id={id} wanted={confirmation(content)} />}
    </>
  );
}

function ByWords({ id, wanted }: { id: number; wanted: string }) {
  const [typed, setTyped] = useState("");
  const same = typed.trim().replace(/\s+/g, " ") === wanted;
  return (
    <Confirm ready={same} label="Purge permanently" purge={() => change.purge({ ids: [id] }, `memory ${id}`)}>
      <p>Type its first words to confirm:</p>
      <p class="confirm"><bdi><Plain text={wanted} /></bdi></p>
      <label class="field">
        The first words
        <input type="text" autocomplete="off" spellcheck={false} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
    </Confirm>
  );
}

function ByText() {
  const [typed, setTyped] = useState("");
  const text = typed.trim();
  const having = useHaving(text);
  return (
    <Confirm ready={text.length >= SHORTEST} label="Purge all of them" purge={() => change.purge({ text }, "the memories with the text")}>
      <label class="field">
        The text, exactly: a password, a name
        <input type="text" autocomplete="off" spellcheck={false} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      <div aria-live="polite">
        {having && (
          <p class="quiet">
            {having.length === 0 ? "No memory contains it." : `${counted(having.length, "memory", "memories")} ${having.length === 1 ? "contains" : "contain"} it:`}{" "}
            Earlier versions, deleted memories and searches are looked through, too.
          </p>
        )}
        {having && having.length > 0 && (
          <ul class="tree">{having.slice(0, 5).map(({ id, content }) => <li key={id}>#{id} <Name text={beginning(content ?? "", 100)} /></li>)}</ul>
        )}
      </div>
    </Confirm>
  );
}

/** Some of the memories that have a text, after a short silence. */
function useHaving(text: string): FindHit[] | null {
  const [having, setHaving] = useState<FindHit[] | null>(null);
  useEffect(() => {
    setHaving(null);
    if (text.length < SHORTEST) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const asked = { query: text, mode: "keyword", limit: 200, detail: "full", includeSuperseded: true };
      api.search(asked, abort.signal).then(
        ({ results }) => setHaving(results.filter(({ content }) => content?.includes(text))),
        () => {},
      );
    }, 300);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return having;
}

interface ConfirmProps {
  ready: boolean;
  label: string;
  purge: () => Promise<boolean>;
  children: preact.ComponentChildren;
}

function Confirm({ ready, label, purge, children }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        if (!ready || busy) return;
        setBusy(true);
        await purge();
        setBusy(false);
      }}
    >
      {children}
      <p class="actions">
        <button type="submit" class="danger" disabled={!ready || busy}>{busy ? "Purging…" : label}</button>
        <button type="button" onClick={() => set({ dialog: null })}>Cancel</button>
      </p>
    </form>
  );
}
