// Server-sent events, read by fetch: EventSource cannot send the token.

import { post } from "./client.ts";
import { ApiError } from "./errors.ts";

export interface ServerEvent {
  event: string;
  data: string;
}

/** Splits a stream of text, in whatever pieces it comes, into events. */
export class EventParser {
  #rest = "";
  #event = "";
  #data: string[] = [];

  push(piece: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const text = this.#rest + piece;
    // A lone \r at the end may be half of \r\n.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (this.#data.length > 0) events.push({ event: this.#event || "message", data: this.#data.join("\n") });
        this.#event = "";
        this.#data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") this.#event = value;
      if (field === "data") this.#data.push(value);
    }
    return events;
  }
}

const PAUSES = [1_000, 2_000, 5_000, 10_000];
/** The server writes a line every 15 seconds. */
const SILENCE = 45_000;

export interface Listener {
  event: (event: ServerEvent) => void;
  /** Whether the stream is open. */
  state: (live: boolean) => void;
}

/** Listens until the page's key is refused, and connects again after each break. */
export async function listen({ event, state }: Listener): Promise<void> {
  for (let failed = 0; ; failed++) {
    try {
      const abort = new AbortController();
      const response = await post("events", {}, abort.signal);
      state(true);
      failed = 0;
      await read(response, abort, event);
    } catch (error) {
      if (error instanceof ApiError && error.kind === "unauthorized") return;
    }
    state(false);
    await new Promise((resolve) => setTimeout(resolve, PAUSES[Math.min(failed, PAUSES.length - 1)]));
  }
}

async function read(response: Response, abort: AbortController, event: Listener["event"]) {
  const reader = response.body?.getReader();
  if (!reader) return;
  const parser = new EventParser();
  const decoder = new TextDecoder();
  for (;;) {
    const timer = setTimeout(() => abort.abort(), SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    for (const one of parser.push(decoder.decode(value, { stream: true }))) event(one);
  }
}
