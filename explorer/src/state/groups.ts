// Changes to a group of Clean up. Each is one step for Undo.

import * as api from "../api/client.ts";
import { attempt, did, undelete, undoTo } from "./change.ts";
import * as list from "./list.ts";

type Seen = { id: number; version: number };

const names = (members: Seen[]) => members.map(({ id }) => id).join(", ");

/** One text; the others are superseded by it. */
export const merge = (keep: Seen, others: Seen[], content?: string) =>
  attempt({
    what: `Merge into memory ${keep.id}`,
    mine: content,
    run: async (version = keep.version) => {
      const replaced = others.map(({ id, version: expect }) => ({ id, expect }));
      const result = await api.merge({ keep: keep.id, expect: version, replaced, content });
      const made = result.undo.filter((id) => id !== keep.id);
      did(`Merged ${names(others)} into memory ${keep.id}`, async () => {
        // Refused if somebody has changed the text since; then nothing is taken back.
        if (result.version > version) await undoTo(keep.id, version, result.version)();
        for (const id of made) await api.unlink({ fromId: keep.id, toId: id, linkType: "supersedes" });
      });
    },
  }, keep.version);

/** Links one to the others, as superseding them, or as related and meant to be both. */
export const linkAll = (keep: Seen, others: Seen[], linkType: "supersedes" | "related") =>
  attempt({
    what: `Link memory ${keep.id}`,
    run: async () => {
      const made: Seen[] = [];
      try {
        for (const other of others) {
          const { created } = await api.link({ fromId: keep.id, toId: other.id, linkType });
          if (created) made.push(other);
        }
      } finally {
        const label = linkType === "supersedes"
          ? `Memory ${keep.id} supersedes ${names(made)}`
          : `Kept ${names([keep, ...made])}, linked as related`;
        if (made.length > 0) {
          did(label, async () => {
            for (const { id } of made) await api.unlink({ fromId: keep.id, toId: id, linkType });
          });
        }
      }
    },
  });

/** Those that were deleted before one could not be are a step, too. */
export const removeAll = (members: Seen[]) =>
  attempt({
    what: `Delete ${names(members)}`,
    run: async () => {
      const gone: Seen[] = [];
      try {
        for (const member of members) {
          await api.remove({ id: member.id, expect: member.version });
          gone.push(member);
        }
      } finally {
        list.drop(gone.map(({ id }) => id));
        if (gone.length > 0) {
          did(`Deleted ${names(gone)}`, async () => {
            for (const { id } of gone) await undelete(id);
          });
        }
      }
    },
  });

/** Takes the expiry away. */
export const keepLonger = (member: Seen) =>
  attempt({
    what: `Keep memory ${member.id}`,
    run: async (version = member.version) => {
      const result = await api.update({ id: member.id, expect: version, expiresAt: null });
      did(`Memory ${member.id} does not expire any more`, undoTo(member.id, version, result.version ?? version + 1));
    },
  }, member.version);
