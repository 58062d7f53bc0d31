// Texts of memories, which come from anywhere: text nodes only, controls visible, direction isolated.

import { useState } from "preact/hooks";
import { bytes, number } from "../text/format.ts";
import { marked } from "../text/marks.ts";
import { visible } from "../text/visible.ts";

export function Plain({ text }: { text: string }) {
  return (
    <>
      {visible(text).map((piece, at) =>
        piece.control ? <span key={at} class="control" title={piece.control}>{piece.text}</span> : piece.text
      )}
    </>
  );
}

/** A name or tag of a memory: of any characters, too. */
export const Name = ({ text }: { text: string }) => <bdi><Plain text={text} /></bdi>;

/** A text with the words that a search found. */
export function Marked({ text, words = [] }: { text: string; words?: readonly string[] }) {
  return (
    <bdi class="text" dir="auto">
      {marked(text, words).map((span, at) =>
        span.marked ? <mark key={at}><Plain text={span.text} /></mark> : <Plain key={at} text={span.text} />
      )}
    </bdi>
  );
}

const FIRST = 20_000;

/** A whole text, of a long one first the beginning. */
export function Whole({ text, words }: { text: string; words?: readonly string[] }) {
  const [all, setAll] = useState(false);
  const short = all || text.length <= FIRST ? text : text.slice(0, FIRST);
  return (
    <>
      <div class="whole"><Marked text={short} words={words} /></div>
      {short.length < text.length && (
        <p class="more">
          The first {number(FIRST)} characters of {number(text.length)}.{" "}
          <button type="button" onClick={() => setAll(true)}>Show all ({bytes(text.length)})</button>
        </p>
      )}
    </>
  );
}
