// What changed between two texts, word by word (Myers' algorithm).

export type Change = "same" | "removed" | "added";

export interface Part {
  change: Change;
  text: string;
}

/** More changes than that are shown as one replacement: nobody reads them, and the work grows with their square. */
const MOST_CHANGES = 1500;

const words = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

export function diff(before: string, after: string): Part[] {
  let a = words(before);
  let b = words(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const parts: Part[] = [];
  push(parts, "same", a.slice(0, head).join(""));
  const end = tail > 0 ? a.slice(a.length - tail).join("") : "";
  a = a.slice(head, a.length - tail);
  b = b.slice(head, b.length - tail);
  middle(parts, a, b);
  push(parts, "same", end);
  return tidy(parts);
}

function middle(parts: Part[], a: string[], b: string[]) {
  const trace = a.length > 0 && b.length > 0 ? shortest(a, b) : null;
  if (!trace) {
    push(parts, "removed", a.join(""));
    push(parts, "added", b.join(""));
    return;
  }
  const steps: [Change, string][] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = trace[d] as Int32Array;
    const middle = (furthest.length - 1) / 2;
    const k = x - y;
    const at = (diagonal: number) => furthest[middle + diagonal] ?? -1;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const fromX = d === 0 ? 0 : at(down ? k + 1 : k - 1);
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      steps.push(["same", a[--x] as string]);
      y--;
    }
    if (d === 0) break;
    if (down) steps.push(["added", b[--y] as string]);
    else steps.push(["removed", a[--x] as string]);
  }
  for (const [change, text] of steps.reverse()) push(parts, change, text);
}

/** The furthest points on each diagonal before each round; nothing if there are too many changes. */
function shortest(a: string[], b: string[]): Int32Array[] | null {
  const most = Math.min(a.length + b.length, MOST_CHANGES);
  const furthest = new Int32Array(2 * most + 3);
  const middle = most + 1;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    trace.push(furthest.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (furthest[middle + k - 1] as number) < (furthest[middle + k + 1] as number));
      let x = down ? (furthest[middle + k + 1] as number) : (furthest[middle + k - 1] as number) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      furthest[middle + k] = x;
      if (x >= a.length && y >= b.length) return trace;
    }
  }
  return null;
}

function push(parts: Part[], change: Change, text: string) {
  if (text === "") return;
  const last = parts.at(-1);
  if (last?.change === change) last.text += text;
  else parts.push({ change, text });
}

/** Between two changes, what was removed stands before what was added, and a lone blank is no island. */
function tidy(parts: Part[]): Part[] {
  const tidied: Part[] = [];
  let removed = "";
  let added = "";
  const flush = () => {
    push(tidied, "removed", removed);
    push(tidied, "added", added);
    removed = added = "";
  };
  for (const [at, part] of parts.entries()) {
    if (part.change === "removed") removed += part.text;
    else if (part.change === "added") added += part.text;
    else if (/^\s+$/.test(part.text) && removed && added && parts[at + 1]) {
      removed += part.text;
      added += part.text;
    } else {
      flush();
      push(tidied, "same", part.text);
    }
  }
  flush();
  return tidied;
}
