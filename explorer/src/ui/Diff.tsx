import { useMemo } from "preact/hooks";
import { diff } from "../text/diff.ts";
import { Plain } from "./Text.tsx";

const MOST = 20_000;

/** What changed from one text to the other. */
export function Diff({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => diff(before.slice(0, MOST), after.slice(0, MOST)), [before, after]);
  return (
    <>
      <div class="whole diff">
        <bdi class="text" dir="auto">
          {parts.map((part, at) => {
            if (part.change === "same") return <Plain key={at} text={part.text} />;
            if (part.change === "removed") return <del key={at}><Plain text={part.text} /></del>;
            return <ins key={at}><Plain text={part.text} /></ins>;
          })}
        </bdi>
      </div>
      {Math.max(before.length, after.length) > MOST && <p class="quiet">Only the beginnings are compared: the texts are very long.</p>}
    </>
  );
}
