// How far the list is scrolled. In a narrow window the page scrolls, else its middle.

/** What scrolls. */
export function scroller(): Element {
  const middle = document.getElementById("middle");
  return middle && getComputedStyle(middle).overflowY !== "visible" ? middle : (document.scrollingElement ?? document.documentElement);
}

/** Where what is read begins, below the head of the view. */
export const readFrom = () => Math.max(0, document.querySelector("#middle .head")?.getBoundingClientRect().bottom ?? 0);

/** Whether somebody reads further down: what comes above waits, or moves nothing. */
export const isScrolled = () => scroller().scrollTop > 8;
