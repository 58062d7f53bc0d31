import { useState } from "preact/hooks";
import type { CleanupGroup, Member } from "../api/types.ts";
import type { GroupKind } from "../state/address.ts";
import * as drafts from "../state/drafts.ts";
import * as groups from "../state/groups.ts";
import { hrefOf } from "../state/navigate.ts";
import { useStore } from "../state/store.ts";
import { ago, counted, date, time } from "../text/format.ts";
import { beginning } from "../text/visible.ts";
import { Diff } from "./Diff.tsx";
import { Kind } from "./Kind.tsx";
import { Marked, Name } from "./Text.tsx";

export const keyOf = (group: CleanupGroup) => group.members.map(({ id, version }) => `${id}.${version}`).join("-");

const LONGEST = 1500;

interface Act {
  key: string;
  label: string;
  run: () => Promise<boolean> | undefined;
}

/** The one that is kept unless another is chosen: current, important, often opened, new. */
function best(members: Member[]): number {
  const worth = (one: Member) => [one.isCurrent ? 1 : 0, one.importance, one.accessCount, one.updatedAt];
  const order = [...members].sort((a, b) => {
    const [x, y] = [worth(a), worth(b)];
    return x.map((value, at) => (y[at] as number) - value).find((difference) => difference !== 0) ?? 0;
  });
  return order[0]?.id ?? 0;
}

function actsOf(kind: GroupKind, keep: Member, others: Member[], text: string | undefined, all: Member[]): Act[] {
  const several = others.length > 0;
  const acts: Act[] = [];
  if (several && kind !== "superseded") {
    acts.push({ key: "m", label: "Merge", run: () => groups.merge(keep, others, text === keep.content ? undefined : text) });
    acts.push({ key: "s", label: `#${keep.id} replaces`, run: () => groups.linkAll(keep, others, "supersedes") });
  }
  if (kind === "duplicates" && several) {
    acts.push({ key: "b", label: others.length > 1 ? "Keep all" : "Keep both", run: () => groups.linkAll(keep, others, "related") });
  } else if (kind === "expiring") acts.push({ key: "b", label: "Keep longer", run: () => groups.keepLonger(keep) });
  else acts.push({ key: "b", label: "Keep", run: () => undefined });
  const doomed = kind === "superseded" ? all.filter((one) => !one.isCurrent) : several ? others : [keep];
  if (doomed.length > 0) {
    acts.push({
      key: "x",
      label: doomed.length > 3 ? `Delete the other ${doomed.length}` : `Delete ${doomed.map(({ id }) => `#${id}`).join(", ")}`,
      run: () => groups.removeAll(doomed),
    });
  }
  return acts;
}

interface CardProps {
  group: CleanupGroup;
  kind: GroupKind;
  hide: () => void;
  /** Its place, of how many; -1: nobody knows yet. */
  at: number;
  all: number;
}

/** What was chosen and written in a card, which it has again when it comes back into view. */
interface Draft {
  chosen: number;
  text?: string;
}

export function GroupCard({ group, kind, hide, at, all }: CardProps) {
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const { members } = group;
  const key = `group ${keyOf(group)}` as const;
  const [{ chosen, text }, setDraft] = useState<Draft>(() => drafts.draft<Draft>(key) ?? { chosen: best(members) });
  const change = (part: Partial<Draft>) => {
    const draft = { chosen, text, ...part };
    setDraft(draft);
    drafts.keep(key, draft);
  };
  const keep = members.find(({ id }) => id === chosen) ?? (members[0] as Member);
  const others = members.filter(({ id }) => id !== keep.id);
  const [busy, setBusy] = useState(false);
  const acts = readOnly ? [] : actsOf(kind, keep, others, text, members);
  const run = async (act: Act) => {
    if (busy) return;
    setBusy(true);
    const done = await (act.run() ?? Promise.resolve(true));
    setBusy(false);
    if (!done) return;
    drafts.forget(key);
    hide();
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.target as Element).matches("textarea, input[type=text]")) return;
    const act = acts.find(({ key }) => key === event.key);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    void run(act);
  };
  return (
    <article
      class="group"
      tabIndex={0}
      data-row={keyOf(group)}
      aria-posinset={at + 1}
      aria-setsize={all}
      aria-label={`${group.why}: ${members.map(({ id }) => `memory ${id}`).join(", ")}`}
      onKeyDown={press}
    >
      <p class="meta">
        <b>{group.why}</b>
      </p>
      <div class="members">
        {members.map((member) => (
          <MemberCard key={member.id} member={member} kept={member.id === keep.id} several={members.length > 1}
            reference={keep} choose={() => change({ chosen: member.id })} name={keyOf(group)} />
        ))}
      </div>
      {acts.some(({ key }) => key === "m") && (
        <details class="merged" open={text !== undefined}>
          <summary>Write the merged text</summary>
          <textarea rows={3} aria-label="The merged text" value={text ?? keep.content} onInput={(event) => change({ text: event.currentTarget.value })} />
        </details>
      )}
      <p class="actions">
        {acts.map((act) => (
          <button key={act.key} type="button" disabled={busy} aria-keyshortcuts={act.key} class={act.key === "x" ? "danger" : ""} onClick={() => void run(act)}>
            {act.label} <kbd aria-hidden="true">{act.key}</kbd>
          </button>
        ))}
      </p>
    </article>
  );
}

interface MemberProps {
  member: Member;
  kept: boolean;
  several: boolean;
  reference: Member;
  choose: () => void;
  name: string;
}

/** The rest of a long text is seen where it is opened. */
const short = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

function MemberCard({ member, kept, several, reference, choose, name }: MemberProps) {
  return (
    <div class={kept && several ? "member kept" : "member"}>
      {several && (
        <label class="keep">
          <input type="radio" name={name} checked={kept} onChange={choose} /> {kept ? "Kept" : "Keep this"}
          <span class="sr-only">, memory {member.id}</span>
        </label>
      )}
      {kept
        ? <div class="whole"><Marked text={short(member.content)} /></div>
        : <Diff before={short(reference.content)} after={short(member.content)} />}
      <p class="meta">
        <a href={hrefOf({ id: member.id, tab: "text" })} aria-label={`Open memory ${member.id}: ${beginning(member.content, 40)}`}>#{member.id}</a>
        <Kind kind={member.entryType} />
        {member.project && <span>project <Name text={member.project} /></span>}
        {member.agent && <span>agent <Name text={member.agent} /></span>}
        <span>importance {member.importance}</span>
        <span>{member.accessCount > 0 ? `opened ${counted(member.accessCount, "time")}` : "never opened"}</span>
        {member.expiresAt && <span>expires {date(member.expiresAt)}</span>}
        {!member.isCurrent && <span class="tag">superseded</span>}
        <time title={time(member.createdAt)}>{ago(member.createdAt)}</time>
      </p>
    </div>
  );
}
