// What is said of a search beside its results.

import type { FindResult } from "../api/types.ts";
import { score } from "./format.ts";

export function remarks(search: FindResult | null, hasResults: boolean): string[] {
  const said: string[] = [];
  if (!search) return said;
  const missing = search.missing ?? [];
  if (missing.length > 0) said.push(`No memory mentions ${missing.join(", ")}${hasResults ? "; these only resemble it" : ""}.`);
  if (search.noAnswer && hasResults) {
    const best = Math.max(...search.results.map(({ relevance }) => relevance));
    said.push(`Probably not here: the best relevance is ${score(best)}.`);
  }
  return said;
}
