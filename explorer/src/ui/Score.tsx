// Why a memory was found: the two weighted sides and the numbers behind them.

import type { Hit } from "../api/types.ts";
import { score } from "../text/format.ts";

type Sides = Partial<Pick<Hit, "score" | "vectorPart" | "keywordPart" | "vectorScore" | "keywordScore" | "matchedBy">>;
type Nullable<T> = { [K in keyof T]: T[K] | null };

export function Bar({ vectorPart, keywordPart }: Nullable<Pick<Sides, "vectorPart" | "keywordPart">>) {
  const width = (part: number | null | undefined) => `${Math.max(0, Math.min(1, part ?? 0)) * 100}%`;
  return (
    <span class="bar" aria-hidden="true">
      <span class="meaning" style={{ width: width(vectorPart) }} />
      <span class="words" style={{ width: width(keywordPart) }} />
    </span>
  );
}

/** Bar and numbers of a result. */
export function Score({ hit }: { hit: Nullable<Sides> }) {
  const by = (hit.matchedBy ?? []).map((side) => (side === "vector" ? "meaning" : "words")).join(" and ");
  return (
    <span class="score">
      <Bar vectorPart={hit.vectorPart} keywordPart={hit.keywordPart} />
      <b title="Score: both sides together, relative to the other results">{score(hit.score)}</b>
      <span class="numbers">
        {hit.vectorScore != null && <span class="side meaning" title="Cosine similarity">cosine {score(hit.vectorScore)}</span>}
        {hit.keywordScore != null && hit.keywordScore > 0 && (
          <span class="side words" title="Relevance of the words (BM25)">BM25 {score(hit.keywordScore, 1)}</span>
        )}
        {by && <span>by {by}</span>}
      </span>
    </span>
  );
}
