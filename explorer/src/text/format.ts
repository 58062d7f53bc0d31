// Numbers, dates and names as people read them.

export const number = (value: number) => value.toLocaleString("en-GB");
export const counted = (count: number, one: string, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

const DAY = 86_400_000;
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const moment = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export const date = (at: number) => day.format(at);
export const time = (at: number) => moment.format(at);

/** How long ago, or in how long. */
export function ago(at: number, now = Date.now()): string {
  const seconds = Math.round((now - at) / 1000);
  const past = seconds >= 0;
  const size = Math.abs(seconds);
  const said = (count: number, unit: string) => (past ? `${count} ${unit} ago` : `in ${count} ${unit}`);
  if (size < 60) return past ? "just now" : "in a moment";
  if (size < 3600) return said(Math.round(size / 60), "min");
  if (size < 86_400) return said(Math.round(size / 3600), "h");
  if (size < 30 * 86_400) return said(Math.round(size / 86_400), size < 1.5 * 86_400 ? "day" : "days");
  return date(at);
}

/** How old something is that was saved long ago. */
export function age(at: number, now = Date.now()): string {
  const days = Math.round((now - at) / DAY);
  if (days < 30) return ago(at, now);
  if (days < 700) return `${counted(Math.round(days / 30.44), "month")} ago`;
  return `${counted(Math.round(days / 365.25), "year")} ago`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

export const score = (value: number | null | undefined, digits = 2) => (value == null ? "–" : value.toFixed(digits));

/** A day as the input for dates has it. */
export function isoDay(at: number): string {
  const local = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${local.getFullYear()}-${two(local.getMonth() + 1)}-${two(local.getDate())}`;
}

/** The beginning of a day in the time zone of the reader. */
export function dayStart(iso: string): number | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(iso);
  if (!match) return null;
  const at = new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3])).getTime();
  return Number.isNaN(at) ? null : at;
}

/** The beginning of the day after. */
export function nextDayStart(iso: string): number | null {
  const at = dayStart(iso);
  return at === null ? null : dayStart(isoDay(at + DAY + DAY / 2));
}

const LINKS: Record<string, [string, string]> = {
  caused: ["caused", "was caused by"],
  related: ["is related to", "is related to"],
  supersedes: ["supersedes", "was superseded by"],
  implements: ["implements", "is implemented by"],
  contradicts: ["contradicts", "is contradicted by"],
};

export const linkPhrase = (type: string, backward: boolean) => LINKS[type]?.[backward ? 1 : 0] ?? type;
