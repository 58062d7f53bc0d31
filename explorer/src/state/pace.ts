// Does something again and again, but not more often than makes sense: one at a time, with a pause between, and not while nobody
// looks. What was requested last is always done.

export interface Paced {
  /** Asks for it. `soon`: without the pause, as a person waits for it. */
  ask: (soon?: boolean) => void;
  /** Somebody looks again. */
  resume: () => void;
}

interface Pace {
  /** Several requests within this are one, in milliseconds. */
  together: number;
  /** From one beginning to the next. */
  every: number;
  isHidden: () => boolean;
}

export function paced(task: () => Promise<unknown>, { together, every, isHidden }: Pace): Paced {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = Number.POSITIVE_INFINITY;
  let began = Number.NEGATIVE_INFINITY;
  let running = false;
  let asked: "no" | "yes" | "soon" = "no";

  const plan = () => {
    if (asked === "no" || running || isHidden()) return;
    const now = Date.now();
    const at = asked === "soon" ? now + together : Math.max(now + together, began + every);
    if (timer !== undefined && due <= at) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(run, at - now);
  };
  const run = async () => {
    timer = undefined;
    if (isHidden()) return;
    asked = "no";
    running = true;
    began = Date.now();
    await task().catch(() => {});
    running = false;
    plan();
  };
  return {
    ask(soon = false) {
      if (asked !== "soon") asked = soon ? "soon" : "yes";
      plan();
    },
    resume: plan,
  };
}
