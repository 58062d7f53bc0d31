// What a search of the page asks for: the list, and why a memory is in it or not, ask for the same.

import type { Address } from "./address.ts";
import { searchParams } from "./filters.ts";

export const PAGE = 50;

export const asked = ({ query, mode, weak, filters }: Pick<Address, "query" | "mode" | "weak" | "filters">, limit = PAGE) => ({
  query: query.trim(),
  mode,
  minRelevance: weak ? 0 : undefined,
  prefix: true,
  limit,
  ...searchParams(filters),
});
