import * as api from "../api/client.ts";
import type { Entry } from "../api/types.ts";
import { hrefOf } from "../state/navigate.ts";
import { useStore } from "../state/store.ts";
import { score } from "../text/format.ts";
import { beginning } from "../text/visible.ts";
import { useLoad } from "./useLoad.ts";

/** What says nearly the same, linked or not. */
export function Similar({ entry }: { entry: Entry }) {
  const model = useStore((state) => state.overview?.model ?? null);
  const { data } = useLoad(`${entry.id} ${entry.version}`, 0, (signal) => api.similar({ id: entry.id, limit: 8 }, signal));
  if (!model || !data || data.results.length === 0) return null;
  return (
    <section aria-label="Similar memories">
      <h3>Similar</h3>
      <ul class="tree">
        {data.results.map(({ id, content, similarity }) => (
          <li key={id}>
            <span class="quiet">{score(similarity)}</span>{" "}
            <a href={hrefOf({ id })}>#{id} <bdi>{beginning(content, 90)}</bdi></a>
          </li>
        ))}
      </ul>
    </section>
  );
}
