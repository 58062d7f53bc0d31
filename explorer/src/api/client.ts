// One function a call. All are POST with a JSON body and the token of this page.

import { ApiError, errorOf, isAborted, unreachable } from "./errors.ts";
import { token } from "./session.ts";
import type { Results } from "./types.ts";

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

async function call<Name extends keyof Results>(name: Name, params: Params, signal?: AbortSignal): Promise<Results[Name]> {
  const response = await post(name, params, signal);
  return (await response.json()) as Results[Name];
}

const of =
  <Name extends keyof Results>(name: Name) =>
  (params: Params, signal?: AbortSignal) =>
    call(name, params, signal);

const reading =
  <Name extends keyof Results>(name: Name) =>
  async (params: Params, signal?: AbortSignal) => {
    const limit = AbortSignal.timeout(LONGEST);
    try {
      return await call(name, params, signal ? AbortSignal.any([signal, limit]) : limit);
    } catch (error) {
      throw limit.aborted && !signal?.aborted ? unreachable() : error;
    }
  };

export const overview = reading("overview");
export const search = reading("search");
export const list = reading("list");
export const explain = reading("explain");
export const memory = reading("memory");
export const history = reading("history");
export const graph = reading("graph");
export const similar = reading("similar");
export const neighbors = reading("neighbors");
export const timeline = reading("timeline");
export const searches = reading("searches");
export const cleanup = reading("cleanup");
export const mapLabels = reading("mapLabels");
export const buildMap = of("buildMap");

export const add = of("add");
export const update = of("update");
export const remove = of("delete");
export const rollback = of("rollback");
export const link = of("link");
export const unlink = of("unlink");
export const undo = of("undo");
export const merge = of("merge");
export const purge = of("purge");

/** The lines of an export, as a file. */
export const exported = async (params: Params): Promise<Blob> => (await post("export", params)).blob();
