// Where the words that a search found are in a text.

export interface Span {
  text: string;
  marked: boolean;
}

const WORD = /[\p{L}\p{N}_]/u;

/** Splits a text at the words to be marked. Whole words first; a word that is only within others is marked there. */
export function marked(text: string, words: readonly string[]): Span[] {
  const ranges: [number, number][] = [];
  for (const word of words) {
    if (word === "") continue;
    const all = occurrences(text, word);
    const whole = all.filter((at) => isWhole(text, at, word.length));
    for (const at of whole.length > 0 ? whole : all) ranges.push([at, at + word.length]);
  }
  if (ranges.length === 0) return text === "" ? [] : [{ text, marked: false }];
  ranges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const spans: Span[] = [];
  let done = 0;
  for (const [from, to] of ranges) {
    if (to <= done) continue;
    const start = Math.max(from, done);
    if (start > done) spans.push({ text: text.slice(done, start), marked: false });
    const last = spans.at(-1);
    if (last?.marked && start === done) last.text += text.slice(start, to);
    else spans.push({ text: text.slice(start, to), marked: true });
    done = to;
  }
  if (done < text.length) spans.push({ text: text.slice(done), marked: false });
  return spans;
}

function occurrences(text: string, word: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(word); at >= 0 && found.length < 1000; at = text.indexOf(word, at + word.length)) {
    found.push(at);
  }
  return found;
}

function isWhole(text: string, at: number, length: number): boolean {
  return !WORD.test(text[at - 1] ?? " ") && !WORD.test(text[at + length] ?? " ");
}
