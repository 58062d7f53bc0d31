// The marks of an axis.

export interface Mark {
  at: number;
  label: string;
}

const DAY = 86_400_000;
const dayAndMonth = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const nameOfMonth = new Intl.DateTimeFormat("en-GB", { month: "short" });
/** In days, months and years. */
const STEPS: ["day" | "month" | "year", number][] = [
  ["day", 1], ["day", 2], ["day", 7], ["day", 14],
  ["month", 1], ["month", 2], ["month", 3], ["month", 6],
  ["year", 1], ["year", 2], ["year", 5], ["year", 10], ["year", 50],
];

/** At most so many points of time, at the beginning of a day, a month or a year each, in the time zone of the reader. */
export function timeMarks(from: number, to: number, most: number): Mark[] {
  for (const [unit, step] of STEPS) {
    if ((to - from) / DAY / step / { day: 1, month: 30, year: 365 }[unit] > most + 1) continue;
    const marks = marksOf(from, to, unit, step);
    if (marks.length <= most) return marks;
  }
  return [];
}

function marksOf(from: number, to: number, unit: "day" | "month" | "year", step: number): Mark[] {
  const first = new Date(from);
  const start = {
    day: [first.getFullYear(), first.getMonth(), first.getDate()],
    month: [first.getFullYear(), first.getMonth() - (first.getMonth() % step), 1],
    year: [first.getFullYear() - (first.getFullYear() % step), 0, 1],
  }[unit] as [number, number, number];
  const marks: Mark[] = [];
  let said = "";
  for (let count = 0; ; count += step) {
    const [year, month, date] = start;
    const mark = {
      day: new Date(year, month, date + count),
      month: new Date(year, month + count, 1),
      year: new Date(year + count, 0, 1),
    }[unit];
    const at = mark.getTime();
    if (at > to) return marks;
    if (at < from) continue;
    // The year is said once.
    const its = String(mark.getFullYear());
    const name = unit === "day" ? dayAndMonth.format(at) : nameOfMonth.format(at);
    marks.push({ at, label: unit === "year" ? its : its === said ? name : `${name} ${its}` });
    said = its;
  }
}

/** The smallest number of one digit and zeros that is no less. */
export function roundUp(value: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return Math.ceil(value / size) * size || 1;
}
