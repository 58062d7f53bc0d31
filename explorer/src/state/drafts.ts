// What was typed and not saved yet: closing a dialog loses none of it.

type Key = number | "new";

const drafts = new Map<Key, unknown>();

export const draft = <T>(key: Key) => drafts.get(key) as T | undefined;
export const keep = (key: Key, values: unknown) => void drafts.set(key, values);
export const forget = (key: Key) => void drafts.delete(key);
/** A text that was purged is in none. */
export const forgetAll = () => drafts.clear();
