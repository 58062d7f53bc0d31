// What the store of the test has beside its many memories: with known answers, and hostile ones.

const DAY = 86_400_000;

export const HOSTILE = [
  "Hostile <script>window.broken = 1</script> and <img src=x onerror=\"window.broken = 2\"> are text",
  "Hostile <svg onload=\"window.broken = 3\"><a href=\"javascript:window.broken = 4\">click</a></svg> is text",
  "Hostile link javascript:alert(1) and https://hostile.example/?q=1 and [a](javascript:window.broken=5) stay text",
  "Hostile order: pay \u202Eneves\u202C euros, \u2066hidden\u2069 and zero\u200Bwidth are shown",
];
/** Its words are all alike, so that it says nothing but its length. */
export const LONG = `Hostile megabyte ${"filler words of a very long memory ".repeat(29_900)}`;

export const PLANTED = [
  { content: "Deploys go out on Tuesdays after the weekly meeting", entryType: "decision", project: "shop", tags: ["ops"] },
  { content: "The user prefers dark mode in every application", entryType: "preference", importance: 8 },
  { content: "Authentication uses JWT tokens that expire after fifteen minutes", entryType: "decision", project: "shop" },
  { content: "The office printer is on the second floor beside the kitchen", entryType: "fact" },
  { content: "The office printer stands on the second floor beside the kitchen", entryType: "fact" },
  { content: "Flaky checkout test is fixed by waiting for the queue to drain", entryType: "bugfix", project: "shop", importance: 7 },
  { content: "Anna Keller leads the platform team and answers mail in the morning", entryType: "contact", agent: "assistant" },
  { content: "Rotate the signing keys before the certificate expires in March", entryType: "task", importance: 9 },
  { content: "The backup runs at three in the night and takes twenty minutes", entryType: "fact", project: "infra" },
  { content: "Coffee machine descaling is due each first Monday of the month", entryType: "event" },
  { content: "Postgres connections are pooled by pgbouncer with transaction mode", entryType: "pattern", project: "infra" },
  { content: "The budget for the Berlin trip is two thousand euros", entryType: "fact", importance: 6 },
];

const SUBJECTS = [
  "The build of the web client", "Search in the catalogue", "The invoice for the customer", "A long walk along the river",
  "The recipe for lentil soup", "Memory use of the worker", "The holiday in the mountains", "Unit tests of the parser",
  "The standing desk", "Logging of failed payments", "A birthday present for Mira", "The release notes",
  "The cache of rendered pages", "Guitar practice", "Type errors in the billing module", "The dentist",
];
const ENDINGS = [
  "takes longer than it should", "was discussed with the team on Monday", "needs a second look before it is finished",
  "works well since the last change", "should not be done on a Friday", "is what the user asks about most",
];

/** Sentences that the many memories are varied from. */
export const SEEDS = SUBJECTS.flatMap((subject) => ENDINGS.map((ending) => `${subject} ${ending}`));

const KINDS = ["fact", "fact", "fact", "preference", "decision", "insight", "task", "bugfix", "event", "pattern", "background"];
const PROJECTS = [undefined, undefined, "shop", "infra", "garden"];
const MARKS = ["ticket", "note", "order", "build", "page"];

/** The numbers of a generator, always the same ones. */
export function draws(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Line `at` of the many: three seeds with a mark of its own, and an embedding a little beside the middle of theirs. */
export function varied(at, seeds, draw, now) {
  const pick = (all) => all[Math.floor(draw() * all.length)];
  const chosen = [pick(seeds), pick(seeds), pick(seeds)];
  const createdAt = Math.round(now - DAY - 500 * DAY * draw() ** 2);
  const importance = 1 + Math.floor(10 * draw());
  return {
    type: "record",
    ulid: ulid(at),
    version: 1,
    content: `${chosen.map(({ content }) => content).join("; ")}, ${pick(MARKS)} ${at}`,
    entryType: pick(KINDS),
    source: "manual",
    confidence: 1,
    importance,
    tags: importance > 8 ? ["keep"] : [],
    project: pick(PROJECTS),
    createdAt,
    updatedAt: createdAt,
    accessCount: 0,
    embedding: beside(chosen, draw),
  };
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function ulid(number) {
  let rest = "";
  for (let left = number; rest.length < 16; left = Math.floor(left / 32)) rest = ALPHABET[left % 32] + rest;
  return `01EXP10RER${rest}`;
}

function beside(chosen, draw) {
  // The first one counts most: it says where on the map.
  const [first, second, third] = chosen.map(({ numbers }) => numbers);
  const moved = first.map((value, at) => 2 * value + second[at] + third[at] / 2 + 0.1 * (draw() + draw() - 1));
  const length = Math.hypot(...moved);
  const half = new Uint16Array(moved.length);
  for (const [at, value] of moved.entries()) half[at] = halfOf(value / length);
  return Buffer.from(half.buffer).toString("base64");
}

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** A number of at most 1 as a float of 16 bits. */
function halfOf(value) {
  single[0] = value;
  const sign = (bits[0] >>> 16) & 0x8000;
  const exponent = ((bits[0] >>> 23) & 255) - 112;
  if (exponent <= 0) return sign;
  return sign | Math.min(0x7bff, (exponent << 10) + (((bits[0] & 0x7fffff) + 0x1000) >>> 13));
}

/** The numbers of an embedding of an export. */
export function numbersOf(base64) {
  const bytes = Buffer.from(base64, "base64");
  const numbers = [];
  for (let at = 0; at < bytes.length; at += 2) {
    const half = bytes.readUInt16LE(at);
    const exponent = (half >>> 10) & 31;
    const fraction = half & 1023;
    const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
    numbers.push(half & 0x8000 ? -size : size);
  }
  return numbers;
}
