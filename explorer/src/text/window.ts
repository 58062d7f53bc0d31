// Which rows of a long list are near what is seen. Heights are those measured, or the usual one.

export interface Span {
  /** The first one, and the one after the last. */
  from: number;
  to: number;
  /** The height of all before, and of all after. */
  above: number;
  below: number;
}

/** The rows that reach into `top` to `bottom`, counted from the top of the list. A height of 0 is not known. */
export function spanOf(heights: ArrayLike<number>, usual: number, top: number, bottom: number): Span {
  let [from, to, above, end, at] = [0, 0, 0, 0, 0];
  for (let row = 0; row < heights.length; row++) {
    const next = at + ((heights[row] as number) || usual);
    // There is always one row, to go on from.
    if (next <= top && row + 1 < heights.length) {
      from = row + 1;
      above = next;
    } else if (at < bottom || row === from) {
      to = row + 1;
      end = next;
    }
    at = next;
  }
  return { from, to, above, below: at - end };
}
