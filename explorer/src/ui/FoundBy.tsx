import type { MemoryResult } from "../api/types.ts";
import { hrefOf } from "../state/navigate.ts";
import { ago, time } from "../text/format.ts";
import { beginning } from "../text/visible.ts";

/** Which searches of agents found a memory. */
export function FoundBy({ result: { foundBy, entry } }: { result: MemoryResult }) {
  if (foundBy.length === 0) {
    return (
      <div class="empty">
        <h3>Not returned by any search yet</h3>
        <p>Searches of agents appear here. Your own in this page are not logged.</p>
      </div>
    );
  }
  return (
    <table class="wide">
      <caption class="sr-only">Searches that found memory {entry.id}</caption>
      <thead><tr><th scope="col">Search</th><th scope="col">By</th><th scope="col">When</th></tr></thead>
      <tbody>
        {foundBy.map(({ query, at, tool }, row) => (
          <tr key={row}>
            <td><a href={hrefOf({ view: "list", query, weak: false })}>{beginning(query, 120)}</a></td>
            <td>{tool}</td>
            <td><time title={time(at)}>{ago(at)}</time></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
