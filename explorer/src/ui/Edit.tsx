import { useState } from "preact/hooks";
import type { Entry, EntryType } from "../api/types.ts";
import * as change from "../state/change.ts";
import { KINDS, SHARED } from "../state/filters.ts";
import * as drafts from "../state/drafts.ts";
import * as memory from "../state/memory.ts";
import { get, set, useStore } from "../state/store.ts";
import { dayStart, isoDay } from "../text/format.ts";

interface Values {
  content: string;
  entryType: EntryType;
  importance: number;
  tags: string;
  context: string;
  expires: string;
}

const discard = (key: number | "new") => {
  drafts.forget(key);
  set({ dialog: null });
};

const tagsOf = (text: string) => text.split(",").map((tag) => tag.trim()).filter(Boolean);

export function EditForm({ entry }: { entry: Entry }) {
  const before: Values = {
    content: entry.content,
    entryType: entry.entryType,
    importance: entry.importance,
    tags: entry.tags.join(", "),
    context: entry.context ?? "",
    expires: entry.expiresAt ? isoDay(entry.expiresAt) : "",
  };
  const [values, setValues] = useState(drafts.draft<Values>(entry.id) ?? before);
  const put = (now: Values) => {
    drafts.keep(entry.id, now);
    setValues(now);
  };
  const changed = useStore((state) => state.memory?.id === entry.id && state.memory.changed);
  const submit = async () => {
    const fields: change.Fields = {};
    if (values.content !== before.content) fields.content = values.content;
    if (values.entryType !== before.entryType) fields.entryType = values.entryType;
    if (values.importance !== before.importance) fields.importance = values.importance;
    if (values.tags !== before.tags) fields.tags = tagsOf(values.tags);
    if (values.context !== before.context) fields.context = values.context || null;
    if (values.expires !== before.expires) fields.expiresAt = dayStart(values.expires);
    if (Object.keys(fields).length === 0) return discard(entry.id);
    await change.edit(entry, fields);
  };
  return (
    <>
      {changed && (
        <p class="banner" role="alert">
          Somebody else changed this memory meanwhile. Saving will show you both versions.{" "}
          <button type="button" onClick={() => {
            discard(entry.id);
            void memory.load();
          }}>Discard mine</button>
        </p>
      )}
      <Form values={values} change={put} submit={submit} cancel={() => discard(entry.id)} />
    </>
  );
}

export function AddForm({ content }: { content: string }) {
  const { filters } = get().address;
  const empty: Values = { content: "", entryType: "fact", importance: 5, tags: "", context: "", expires: "" };
  const [values, setValues] = useState(content ? { ...empty, content } : (drafts.draft<Values>("new") ?? empty));
  const put = (now: Values) => {
    drafts.keep("new", now);
    setValues(now);
  };
  const overview = useStore((state) => state.overview);
  const named = (name: string) => (name === SHARED ? "" : name);
  const [project, setProject] = useState(named(filters.project));
  const submit = () =>
    change.add({
      content: values.content,
      entryType: values.entryType,
      importance: values.importance,
      tags: values.tags ? tagsOf(values.tags) : undefined,
      context: values.context || undefined,
      expiresAt: dayStart(values.expires) ?? undefined,
      project: project || null,
      source: "explorer",
    });
  return (
    <Form values={values} change={put} submit={submit} cancel={() => discard("new")}>
      <label class="field">
        Project
        <input type="text" list="projects" value={project} placeholder="global" onInput={(event) => setProject(event.currentTarget.value)} />
        <datalist id="projects">{overview?.projects.map(({ name }) => <option key={name} value={name} />)}</datalist>
      </label>
    </Form>
  );
}

interface FormProps {
  values: Values;
  change: (values: Values) => void;
  submit: () => unknown;
  cancel: () => void;
  children?: preact.ComponentChildren;
}

function Form({ values, change: then, submit, cancel, children }: FormProps) {
  const put = (part: Partial<Values>) => then({ ...values, ...part });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
      }}
    >
      <label class="field">
        Text: one statement that makes sense by itself
        <textarea rows={6} required value={values.content} onInput={(event) => put({ content: event.currentTarget.value })} />
      </label>
      <div class="pair">
        <label class="field">
          Kind
          <select value={values.entryType} onChange={(event) => put({ entryType: event.currentTarget.value as EntryType })}>
            {KINDS.map((kind) => <option key={kind} value={kind}>{kind}</option>)}
          </select>
        </label>
        <label class="field">
          Importance {values.importance}
          <input type="range" min="1" max="10" value={values.importance} onInput={(event) => put({ importance: Number(event.currentTarget.value) })} />
        </label>
      </div>
      <div class="pair">
        <label class="field">
          Tags, with commas
          <input type="text" value={values.tags} onInput={(event) => put({ tags: event.currentTarget.value })} />
        </label>
        <label class="field">
          Expires
          <input type="date" value={values.expires} onInput={(event) => put({ expires: event.currentTarget.value })} />
        </label>
      </div>
      <label class="field">
        Context: embedded together with the text
        <textarea rows={2} value={values.context} onInput={(event) => put({ context: event.currentTarget.value })} />
      </label>
      {children}
      <p class="actions">
        <button type="submit" class="primary">Save</button>
        <button type="button" onClick={cancel}>Cancel</button>
        <span class="quiet push">Ctrl+Enter saves</span>
      </p>
    </form>
  );
}
