import { useState } from "preact/hooks";
import * as api from "../api/client.ts";
import type { Entry, VersionEntry } from "../api/types.ts";
import * as change from "../state/change.ts";
import { useStore } from "../state/store.ts";
import { ago, date, score, time } from "../text/format.ts";
import { beginning } from "../text/visible.ts";
import { Diff } from "./Diff.tsx";
import { Status } from "./Status.tsx";
import { useLoad } from "./useLoad.ts";

export function Versions({ entry }: { entry: Entry }) {
  const loaded = useLoad(`${entry.id}`, entry.version, async (signal) => {
    const result = await api.history({ id: entry.id, limit: 200 }, signal);
    if (result.error) throw new Error(result.error);
    return result;
  });
  const versions = loaded.data?.versions ?? [];
  return (
    <>
      <Status {...loaded} loading={loaded.loading && !loaded.data} />
      {versions.length === 1 && <p class="quiet">It was never changed.</p>}
      {versions.length > 1 && <Compare key={entry.version} versions={versions} />}
      <ol class="versions">
        {versions.map((version, at) => (
          <Item key={version.version} version={version} before={versions[at + 1]} entry={entry} />
        ))}
      </ol>
      {loaded.data?.next && <p class="quiet">Older versions are shown by memorist history {entry.id}.</p>}
    </>
  );
}

function Compare({ versions }: { versions: VersionEntry[] }) {
  const [newest, previous] = versions as [VersionEntry, VersionEntry];
  const [from, setFrom] = useState(previous.version);
  const [to, setTo] = useState(newest.version);
  const of = (wanted: number) => versions.find(({ version }) => version === wanted) ?? newest;
  const choose = (label: string, value: number, then: (value: number) => void) => (
    <select aria-label={label} value={value} onChange={(event) => then(Number(event.currentTarget.value))}>
      {versions.map(({ version }) => <option key={version} value={version}>version {version}</option>)}
    </select>
  );
  return (
    <section aria-label="Comparison" class="compare">
      <p>From {choose("From version", from, setFrom)} to {choose("To version", to, setTo)}</p>
      <Diff before={of(from).content} after={of(to).content} />
      <Fields before={of(from)} after={of(to)} />
    </section>
  );
}

const FIELDS: [string, (version: VersionEntry) => string][] = [
  ["Kind", ({ entryType }) => entryType],
  ["Importance", ({ importance }) => String(importance)],
  ["Confidence", ({ confidence }) => score(confidence)],
  ["Tags", ({ tags }) => tags.join(", ") || "none"],
  ["Context", ({ context }) => context ?? "none"],
  ["Source", ({ source }) => source],
  ["Expires", ({ expiresAt }) => (expiresAt ? date(expiresAt) : "never")],
  ["Fields", ({ body }) => (body ? JSON.stringify(body) : "none")],
];

/** What changed beside the text. */
function Fields({ before, after }: { before: VersionEntry; after: VersionEntry }) {
  const changed = FIELDS.filter(([, of]) => of(before) !== of(after));
  if (changed.length === 0) return null;
  return (
    <dl class="facts">
      {changed.map(([name, of]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd><del>{beginning(of(before), 200)}</del> <ins>{beginning(of(after), 200)}</ins></dd>
        </div>
      ))}
    </dl>
  );
}

function Item({ version, before, entry }: { version: VersionEntry; before: VersionEntry | undefined; entry: Entry }) {
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const newest = version.until === null;
  return (
    <li>
      <p class="version">
        <b>Version {version.version}</b>
        {newest && <span class="tag">now</span>}
        <time title={time(version.since)}>{ago(version.since)}</time>
        {!newest && !readOnly && (
          <button type="button" class="push" onClick={() => void change.rollback(entry, version.version, version.content)}>
            Restore
          </button>
        )}
      </p>
      <p class="quiet">{beginning(version.content, 160)}</p>
      {before?.reason && <p class="quiet">Why: {beginning(before.reason, 200)}</p>}
    </li>
  );
}
