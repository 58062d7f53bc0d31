import { useState } from "preact/hooks";
import * as change from "../state/change.ts";
import { set } from "../state/store.ts";
import { linkPhrase } from "../text/format.ts";

const TYPES = ["related", "supersedes", "contradicts", "caused", "implements"];

export function LinkForm({ id }: { id: number }) {
  const [type, setType] = useState("related");
  const [other, setOther] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void change.link(id, type, Number(other.replace("#", "")));
      }}
    >
      <label class="field">
        Memory {id}
        <select value={type} onChange={(event) => setType(event.currentTarget.value)}>
          {TYPES.map((name) => <option key={name} value={name}>{linkPhrase(name, false)}</option>)}
        </select>
      </label>
      <label class="field">
        memory number
        <input type="text" required inputMode="numeric" pattern="#?[0-9]+" value={other} onInput={(event) => setOther(event.currentTarget.value)} />
      </label>
      <p class="actions">
        <button type="submit" class="primary">Link</button>
        <button type="button" onClick={() => set({ dialog: null })}>Cancel</button>
      </p>
    </form>
  );
}
