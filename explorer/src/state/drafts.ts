// What was typed and not saved yet: closing a dialog loses none of it.

/** A memory by its number, a new one, or a group of some. */
type Key = number | "new" | `group ${string}`;

const drafts = new Map<Key, unknown>();

export const draft = <T>(key: Key) => drafts.get(key) as T | undefined;
export const keep = (key: Key, values: unknown) => void drafts.set(key, values);
export const forget = (key: Key) => void drafts.delete(key);
/** A text that was purged is in none. */
export const forgetAll = () => drafts.clear();
