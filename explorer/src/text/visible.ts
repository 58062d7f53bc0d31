// Texts come from anywhere. What would reorder or hide a part of them is shown as what it is.

export interface Piece {
  text: string;
  /** Set if the text stands for a character that cannot be seen. */
  control?: string;
}

// C0 and C1 (not tab and line feed), soft hyphen, marks and embeddings of direction, zero-width characters, tags.
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const NAMES: Record<string, string> = {
  "200B": "zero width space",
  "200C": "zero width non-joiner",
  "200D": "zero width joiner",
  "200E": "left-to-right mark",
  "200F": "right-to-left mark",
  "202A": "left-to-right embedding",
  "202B": "right-to-left embedding",
  "202C": "end of embedding",
  "202D": "left-to-right override",
  "202E": "right-to-left override",
  "2066": "left-to-right isolate",
  "2067": "right-to-left isolate",
  "2068": "first strong isolate",
  "2069": "end of isolate",
  FEFF: "byte order mark",
};

/** The text in pieces: as it is, and a name for each control character. */
export function visible(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(CONTROL)) {
    const at = match.index;
    const character = match[0];
    // Within emoji and Indic words a joiner belongs to the writing.
    if (isJoinerInWriting(text, at, character)) continue;
    if (character === "\r" && text[at + 1] === "\n") {
      if (at > from) pieces.push({ text: text.slice(from, at) });
      from = at + 1;
      continue;
    }
    if (at > from) pieces.push({ text: text.slice(from, at) });
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    pieces.push({ text: `U+${code}`, control: NAMES[code] ?? `control character U+${code}` });
    from = at + character.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

function isJoinerInWriting(text: string, at: number, character: string) {
  if (character !== "\u200d" && character !== "\u200c") return false;
  const before = text.slice(Math.max(0, at - 2), at);
  const after = text.slice(at + 1, at + 3);
  return /[\p{Extended_Pictographic}\ufe0f\p{M}\p{L}]$/u.test(before) && /^[\p{Extended_Pictographic}\p{L}]/u.test(after)
    && !/[\p{Script=Latin}]$/u.test(before);
}

/** The same as one line of plain text, for labels. */
export const plain = (text: string) =>
  visible(text)
    .map((piece) => piece.text)
    .join("")
    .replace(/\s+/g, " ")
    .trim();

/** The beginning of a text as a label. */
export function beginning(text: string, most = 80): string {
  const line = plain(text.slice(0, most * 4));
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line;
}
