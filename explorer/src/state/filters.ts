// What the filters of the page mean to the API.

import { dayStart, nextDayStart } from "../text/format.ts";

export type Source = "notes" | "sessions" | "memories";
export const SOURCES: Source[] = ["memories", "notes", "sessions"];
export const STATES = ["", "open", "overdue", "superseded", "contradicted", "expiring", "expired", "deleted"] as const;

/** `""` is "all" everywhere. */
export interface Filters {
  kinds: string[];
  sources: Source[];
  /** `-` is what belongs to no project. */
  project: string;
  agent: string;
  tags: string[];
  importance: number;
  after: string;
  before: string;
  state: string;
}

export const NO_FILTERS: Filters = {
  kinds: [],
  sources: [],
  project: "",
  agent: "",
  tags: [],
  importance: 0,
  after: "",
  before: "",
  state: "",
};

export const SHARED = "-";

export const KINDS = [
  "fact", "preference", "event", "insight", "task", "relationship", "decision", "pattern", "bugfix", "background",
  "contact", "project", "skill", "profile", "conversation", "chunk",
];

const sourceOf = (kind: string): Source => (kind === "chunk" ? "notes" : kind === "conversation" ? "sessions" : "memories");

/** The kinds that pass; nothing: all of them. */
export function kindsOf({ kinds, sources }: Filters): string[] | null {
  if (sources.length === 0) return kinds.length > 0 ? kinds : null;
  return (kinds.length > 0 ? kinds : KINDS).filter((kind) => sources.includes(sourceOf(kind)));
}

/** Whether nothing can pass: the kinds and the sources exclude one another. */
export const isEmpty = (filters: Filters) => kindsOf(filters)?.length === 0;

const name = (value: string) => (value === "" ? undefined : value === SHARED ? null : value);

/** The parameters that `list`, `search`, `timeline`, `export` and `mapFilter` share. The state is for lists alone. */
export function params(filters: Filters): Record<string, unknown> {
  const kinds = kindsOf(filters);
  const before = nextDayStart(filters.before);
  return {
    entryTypes: kinds ?? undefined,
    tags: filters.tags.length > 0 ? filters.tags : undefined,
    minImportance: filters.importance > 0 ? filters.importance : undefined,
    createdAfter: dayStart(filters.after) ?? undefined,
    createdBefore: before ?? undefined,
    project: name(filters.project),
    agent: name(filters.agent),
  };
}

export const listParams = (filters: Filters) => ({ ...params(filters), state: filters.state || undefined });

export const searchParams = (filters: Filters) => ({
  ...params(filters),
  includeSuperseded: filters.state === "superseded" ? true : undefined,
});

/** How many filters are set. */
export function countSet(filters: Filters): number {
  return (Object.keys(NO_FILTERS) as (keyof Filters)[]).filter(
    (key) => String(filters[key]) !== String(NO_FILTERS[key]),
  ).length;
}
