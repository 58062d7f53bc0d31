// The address holds what the page shows: reload, Back and a second tab show the same.

import { type Filters, NO_FILTERS, type Source, SOURCES, STATES } from "./filters.ts";

export const VIEWS = ["list", "map", "timeline", "searches", "cleanup"] as const;
export type View = (typeof VIEWS)[number];
export const TABS = ["text", "versions", "links", "found"] as const;
export type Tab = (typeof TABS)[number];
export const GROUPS = ["duplicates", "contradictions", "superseded", "expiring", "neverFound"] as const;
export type GroupKind = (typeof GROUPS)[number];
export const COLOURS = ["kind", "project", "agent", "age", "importance"] as const;
export type Colour = (typeof COLOURS)[number];
const MODES = ["hybrid", "vector", "keyword"] as const;
const ONLY = ["", "noAnswer", "weak", "neverOpened"] as const;

export interface Address {
  view: View;
  query: string;
  mode: (typeof MODES)[number];
  /** Of a search, also what is hardly relevant. */
  weak: boolean;
  filters: Filters;
  /** An area of the map: x and y of its corners in turn, 0 to 65535. */
  area: number[];
  id: number | null;
  tab: Tab;
  group: GroupKind;
  colour: Colour;
  only: (typeof ONLY)[number];
}

export const HOME: Address = {
  view: "list",
  query: "",
  mode: "hybrid",
  weak: false,
  filters: NO_FILTERS,
  area: [],
  id: null,
  tab: "text",
  group: "duplicates",
  colour: "kind",
  only: "",
};

const oneOf = <T extends string>(all: readonly T[], value: string | null, otherwise: T): T =>
  all.find((one) => one === value) ?? otherwise;

/** The fragment for an address; what is as usual is left out. */
export function format(address: Address): string {
  const { filters } = address;
  const search = new URLSearchParams();
  const set = (key: string, value: string, usual = "") => {
    if (value !== usual) search.set(key, value);
  };
  set("q", address.query);
  set("mode", address.mode, HOME.mode);
  set("weak", address.weak ? "1" : "");
  set("kind", filters.kinds.join(","));
  set("source", filters.sources.join(","));
  set("project", filters.project);
  set("agent", filters.agent);
  for (const tag of filters.tags) search.append("tag", tag);
  set("importance", String(filters.importance), "0");
  set("after", filters.after);
  set("before", filters.before);
  set("state", filters.state);
  set("area", address.area.join("."));
  set("id", address.id === null ? "" : String(address.id));
  set("tab", address.tab, HOME.tab);
  set("group", address.group, HOME.group);
  set("colour", address.colour, HOME.colour);
  set("only", address.only);
  const rest = search.toString();
  return `#/${address.view}${rest ? `?${rest}` : ""}`;
}

/** What a fragment says. Whatever it does not say, or says wrongly, is as usual. */
export function parse(hash: string): Address {
  const [path = "", rest = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const search = new URLSearchParams(rest);
  const text = (key: string) => search.get(key) ?? "";
  const many = (key: string) => text(key).split(",").filter(Boolean);
  const whole = (value: string) => (/^\d{1,15}$/.test(value) ? Number(value) : null);
  const day = (value: string) => (/^\d{4}-\d{2}-\d{2}$/.test(value) ? value : "");
  const area = text("area").split(".").map(whole);
  return {
    view: oneOf(VIEWS, path, HOME.view),
    query: text("q"),
    mode: oneOf(MODES, search.get("mode"), HOME.mode),
    weak: text("weak") === "1",
    filters: {
      kinds: many("kind"),
      sources: many("source").filter((source): source is Source => SOURCES.includes(source as Source)),
      project: text("project"),
      agent: text("agent"),
      tags: search.getAll("tag").filter(Boolean),
      importance: Math.min(whole(text("importance")) ?? 0, 10),
      after: day(text("after")),
      before: day(text("before")),
      state: oneOf(STATES, search.get("state"), ""),
    },
    area: area.length >= 6 && area.length % 2 === 0 && area.every((one) => one !== null && one <= 65_535)
      ? (area as number[])
      : [],
    id: whole(text("id")),
    tab: oneOf(TABS, search.get("tab"), HOME.tab),
    group: oneOf(GROUPS, search.get("group"), HOME.group),
    colour: oneOf(COLOURS, search.get("colour"), HOME.colour),
    only: oneOf(ONLY, search.get("only"), ""),
  };
}

/** What the list depends on. */
export const listPart = ({ query, mode, weak, filters, area }: Address) =>
  format({ ...HOME, query, mode, weak, filters, area });
