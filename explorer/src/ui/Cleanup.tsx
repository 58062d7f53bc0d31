import { useEffect, useState } from "preact/hooks";
import * as api from "../api/client.ts";
import type { CleanupGroup } from "../api/types.ts";
import { type GroupKind, GROUPS } from "../state/address.ts";
import { go } from "../state/navigate.ts";
import { useStore } from "../state/store.ts";
import { number } from "../text/format.ts";
import { GroupCard, keyOf } from "./GroupCard.tsx";
import { Status } from "./Status.tsx";
import { useLoad } from "./useLoad.ts";
import { Windowed } from "./Windowed.tsx";

const NAMES: Record<GroupKind, { name: string; nothing: string; does: string }> = {
  duplicates: {
    name: "Near-duplicates",
    nothing: "No near-duplicates.",
    does: "Merge keeps one text and supersedes the others, so that searches omit them.",
  },
  contradictions: {
    name: "Contradictions",
    nothing: "No contradictions.",
    does: "Choose the true memory. It supersedes the other, which searches then omit.",
  },
  superseded: {
    name: "Superseded",
    nothing: "No superseded memories.",
    does: "Searches already omit these. Delete the ones that nobody needs.",
  },
  expiring: { name: "Expiring", nothing: "No memory expires soon.", does: "Searches omit them after that day." },
  neverFound: {
    name: "Never found",
    nothing: "Searches have returned every older memory.",
    does: "No search has returned these for a long time. Keep the true ones and delete the others.",
  },
};

/** What may be put right, group by group. */
export function Cleanup() {
  const kind = useStore((state) => state.address.group);
  const revision = useStore((state) => state.revision);
  const model = useStore((state) => state.overview === null || state.overview.model !== null);
  const [pages, setPages] = useState(1);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const loaded = useLoad<Groups>(kind, revision * 1000 + pages, (signal, show) => load(kind, pages, signal, show));
  useEffect(() => setPages(1), [kind]);
  // What was undone is there again.
  const undone = useStore((state) => state.done.filter((one) => one.undone).length);
  useEffect(() => setHidden(new Set()), [undone]);
  const groups = (loaded.data?.groups ?? []).filter((group) => !hidden.has(keyOf(group)));
  const hide = (group: CleanupGroup) => {
    setHidden((before) => new Set([...before, keyOf(group)]));
    next(groups.map(keyOf), keyOf(group));
  };
  const { nothing, does } = NAMES[kind];
  const all = loaded.data?.next == null ? groups.length : -1;
  return (
    <section aria-labelledby="cleanup-title" class="cleanup">
      <div class="head">
        <h1 id="cleanup-title">Clean up</h1>
        {loaded.data?.total != null && <span class="quiet">{number(loaded.data.total)} of these</span>}
      </div>
      <fieldset class="segments">
        <legend class="sr-only">Review</legend>
        {GROUPS.map((name) => (
          <label key={name} class={name === kind ? "chosen" : ""}>
            <input type="radio" name="group" checked={name === kind} onChange={() => go({ group: name })} />
            {NAMES[name].name}
          </label>
        ))}
      </fieldset>
      {groups.length > 0 && <p class="hint quiet">{does} Everything here can be undone.</p>}
      <Status {...loaded} loading={loaded.loading && groups.length === 0} />
      {loaded.data && !loaded.loading && groups.length === 0 && (
        <div class="empty">
          <h2>All tidy</h2>
          <p>{kind === "duplicates" && !model ? "Finding near-duplicates needs an embedding model." : nothing}</p>
        </div>
      )}
      {groups.length > 0 && (
        <Windowed
          as="div"
          items={groups}
          keyOf={keyOf}
          row={(group: CleanupGroup, at) => <GroupCard group={group} kind={kind} hide={() => hide(group)} at={at} all={all} />}
          list={kind}
          attributes={{ class: "groups", role: "feed", "aria-labelledby": "cleanup-title", "aria-busy": loaded.loading }}
        />
      )}
      {loaded.data?.next != null && !loaded.loading && <p class="foot"><button type="button" onClick={() => setPages(pages + 1)}>More</button></p>}
    </section>
  );
}

/** The focus goes on to the group after one that is done. */
function next(keys: string[], done: string) {
  const at = keys.indexOf(done);
  requestAnimationFrame(() => {
    const cards = new Map([...document.querySelectorAll<HTMLElement>(".group")].map((card) => [card.dataset.row, card]));
    const after = [...keys.slice(at + 1), ...keys.slice(0, at).reverse()].find((key) => cards.has(key));
    cards.get(after)?.focus();
  });
}

/** So many groups a page. A page of the API may have fewer, or none: it ends after some milliseconds. */
const PAGE = 20;

interface Groups {
  groups: CleanupGroup[];
  total: number | null;
  next: string | null;
}

async function load(kind: GroupKind, pages: number, signal: AbortSignal, show: (part: Groups) => void): Promise<Groups> {
  const all: Groups = { groups: [], total: null, next: null };
  do {
    const wanted = pages * PAGE - all.groups.length;
    const result = await api.cleanup({ kind, cursor: all.next ?? undefined, limit: wanted }, signal);
    all.groups = [...all.groups, ...result.groups];
    all.total = result.total;
    all.next = result.next ?? null;
    show({ ...all });
  } while (all.next !== null && all.groups.length < pages * PAGE);
  return all;
}
