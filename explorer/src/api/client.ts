// One function a call. All are POST with a JSON body and the token of this page.

import { ApiError, errorOf, isAborted, unreachable } from "./errors.ts";
import { token } from "./session.ts";
import type * as Api from "./types.ts";

type Params = Record<string, unknown>;

let whenUnauthorized: (error: ApiError) => void = () => {};
export const onUnauthorized = (then: (error: ApiError) => void) => {
  whenUnauthorized = then;
};

/** Asks, and returns the answer when its head is there. */
export async function post(name: string, params: Params, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token() ?? ""}` },
      body: JSON.stringify(params),
      cache: "no-store",
      signal: signal ?? null,
    });
  } catch (error) {
    throw isAborted(error) ? error : unreachable();
  }
  if (response.ok) return response;
  const error = errorOf(response.status, await response.text());
  if (error.kind === "unauthorized") whenUnauthorized(error);
  throw error;
}

/** What only reads is given up after so long, as nothing else is loaded meanwhile, in milliseconds. */
const LONGEST = 60_000;

async function call<Result>(name: string, params: Params, signal?: AbortSignal): Promise<Result> {
  const response = await post(name, params, signal);
  return (await response.json()) as Result;
}

const of =
  <Result>(name: string) =>
  (params: Params, signal?: AbortSignal) =>
    call<Result>(name, params, signal);

const reading =
  <Result>(name: string) =>
  async (params: Params, signal?: AbortSignal) => {
    const limit = AbortSignal.timeout(LONGEST);
    try {
      return await call<Result>(name, params, signal ? AbortSignal.any([signal, limit]) : limit);
    } catch (error) {
      throw limit.aborted && !signal?.aborted ? unreachable() : error;
    }
  };

export const overview = reading<Api.Overview>("overview");
export const search = reading<Api.SearchResult>("search");
export const list = reading<Api.ListResult>("list");
export const explain = reading<Api.ExplainResult>("explain");
export const memory = reading<Api.MemoryResult>("memory");
export const history = reading<Api.HistoryResult>("history");
export const graph = reading<Api.GraphResult>("graph");
export const similar = reading<Api.SimilarResult>("similar");
export const neighbors = reading<Api.NeighborsResult>("neighbors");
export const timeline = reading<Api.TimelineResult>("timeline");
export const searches = reading<Api.SearchesResult>("searches");
export const cleanup = reading<Api.CleanupResult>("cleanup");
export const mapLabels = reading<Api.MapLabels>("mapLabels");
export const buildMap = of<{ state: string }>("buildMap");

export const add = of<{ id: number; created: boolean; duplicate: boolean; warnings?: string[] }>("add");
export const update = of<{ id?: number; version?: number; error?: string }>("update");
export const remove = of<{ success: boolean; deleted: boolean }>("delete");
export const rollback = of<{ id?: number; version?: number; error?: string }>("rollback");
export const link = of<{ created: boolean }>("link");
export const unlink = of<{ removed: boolean }>("unlink");
export const undo = of<{ error?: string; results?: { id: number; error?: string }[] }>("undo");
export const merge = of<{ id: number; version: number; undo: number[] }>("merge");
export const purge = of<Api.PurgeResult>("purge");

/** The lines of an export, as a file. */
export const exported = async (params: Params): Promise<Blob> => (await post("export", params)).blob();
