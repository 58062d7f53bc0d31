// How relevant a result is, and the two weighted sides of its score, for those who ask why.

import type { FindHit } from "../api/types.ts";
import { score } from "../text/format.ts";

const width = (part: number | null) => `${Math.max(0, Math.min(1, part ?? 0)) * 100}%`;

export function Bar({ vectorPart, keywordPart }: { vectorPart: number | null; keywordPart: number | null }) {
  return (
    <span class="bar" aria-hidden="true">
      <span class="meaning" style={{ width: width(vectorPart) }} />
      <span class="words" style={{ width: width(keywordPart) }} />
    </span>
  );
}

/** The relevance of a result, and why it stands where that does not say so. What was found by parts of words has none. */
export function Relevance({ hit: { relevance, why } }: { hit: Pick<FindHit, "relevance" | "why"> }) {
  if (relevance === 0 && !why) return null;
  return (
    <span class="score">
      <span class="bar" aria-hidden="true"><span class="relevance" style={{ width: width(relevance) }} /></span>
      <b title="Relevance: how likely it answers the search, 0 to 1">{score(relevance)}</b>
      {why && <span class="reason">{why}</span>}
    </span>
  );
}
