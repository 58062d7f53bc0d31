// Has the map made, in the background.

import * as api from "../api/client.ts";
import * as change from "./change.ts";
import * as overview from "./overview.ts";

export async function make(from: "scratch" | "warm") {
  try {
    await api.buildMap({ from });
    await overview.load();
  } catch (error) {
    change.fail(error);
  }
}
