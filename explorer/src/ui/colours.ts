// A hue for each kind that there is: colour-blind people tell the first eight apart. And one for all others.

export const HUES = [
  "#3b73d9", "#d9631e", "#12936b", "#c9629f", "#b98a00", "#3fa7d6", "#8059c2", "#8a6a3a",
  "#c4384a", "#0f9aa0", "#6f9c22", "#a541b8", "#e58a73", "#5a7f9e", "#7d7f33", "#5a4fcf",
] as const;
export const OTHER = "#8a909c";

/** The colour of each name: the most frequent names have one of their own. */
export function coloursOf(counts: Record<string, number>): (name: string) => string {
  const names = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
    .map(([name]) => name);
  const by = new Map(names.slice(0, HUES.length).map((name, at) => [name, HUES[at] as string]));
  return (name) => by.get(name) ?? OTHER;
}
