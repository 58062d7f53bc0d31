import { useStore } from "../state/store.ts";
import { coloursOf } from "./colours.ts";

let last: { counts: Record<string, number>; of: (name: string) => string } | undefined;

/** The colours of the kinds of this store. */
export function useKindColours(): (name: string) => string {
  const counts = useStore((state) => state.overview?.byType);
  if (!counts) return coloursOf({});
  if (last?.counts !== counts) last = { counts, of: coloursOf(counts) };
  return last.of;
}

export function Dot({ colour }: { colour: string }) {
  return <span class="dot" aria-hidden="true" style={{ background: colour }} />;
}

export function Kind({ kind }: { kind: string }) {
  return (
    <span class="kind">
      <Dot colour={useKindColours()(kind)} />
      {kind}
    </span>
  );
}
