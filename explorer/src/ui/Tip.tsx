import type { Chart } from "../map/chart.ts";
import { Kind } from "./Kind.tsx";

export interface About {
  id: number;
  content: string;
  entryType: string;
}

/** What the point in focus says. */
export function Tip({ chart, at, about }: { chart: Chart; at: number; about: About }) {
  const [left, top] = chart.spot(at);
  const { width, height } = chart.size;
  const style: Record<string, string> = {};
  if (left < width / 2) style.left = `${left + 14}px`;
  else style.right = `${width - left + 14}px`;
  if (top < height / 2) style.top = `${top + 14}px`;
  else style.bottom = `${height - top + 14}px`;
  return (
    <div class="tip" aria-hidden="true" style={style}>
      <bdi dir="auto">{about.content}</bdi>
      <p class="meta"><Kind kind={about.entryType} /><span>#{about.id}</span></p>
    </div>
  );
}
