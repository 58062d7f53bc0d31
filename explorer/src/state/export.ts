// Writes what the list shows to a file of the reader: JSON Lines, as memorist import reads them.

import * as api from "../api/client.ts";
import { idsWithin } from "./area.ts";
import { fail, say } from "./change.ts";
import { listParams } from "./filters.ts";
import { get } from "./store.ts";

export async function save() {
  const { address, list } = get();
  try {
    // A state is for lists alone: what is listed is written then, as of a search.
    const params = address.query.trim() || address.filters.state
      ? { ids: list.items.map(({ id }) => id) }
      : address.area.length > 0
        ? { ids: [...(await idsWithin(address.area, address.filters))] }
        : listParams(address.filters);
    const url = URL.createObjectURL(await api.exported(params));
    const link = document.createElement("a");
    link.href = url;
    link.download = "memories.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    say("Saved as memories.jsonl, where the browser keeps downloads");
  } catch (error) {
    fail(error);
  }
}
