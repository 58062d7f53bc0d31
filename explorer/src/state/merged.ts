// A list that is read, and its newer state.

/** The rows to be shown: those that are gone leave, those below what was loaded again stay. While it is scrolled, new ones wait. */
export function merged<T extends { id: number }>(
  shown: readonly T[],
  fresh: readonly T[],
  limit: number,
  isScrolled: boolean,
): { items: T[]; waiting: number } {
  const by = new Map(fresh.map((item) => [item.id, item]));
  const known = new Set(shown.map(({ id }) => id));
  const below = fresh.length < limit ? [] : rest(shown, by);
  if (!isScrolled) return { items: [...fresh, ...below], waiting: 0 };
  const kept = new Set(below.map(({ id }) => id));
  const items = shown.flatMap((item) => by.get(item.id) ?? (kept.has(item.id) ? [item] : []));
  return { items, waiting: fresh.filter(({ id }) => !known.has(id)).length };
}

/** What follows the last row that is in both. */
function rest<T extends { id: number }>(shown: readonly T[], fresh: ReadonlyMap<number, T>): T[] {
  let last = shown.length - 1;
  while (last >= 0 && !fresh.has((shown[last] as T).id)) last--;
  return shown.slice(last + 1);
}
