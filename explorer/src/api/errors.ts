// What went wrong, in words for the person who reads it.

import type { Entry } from "./types.ts";

export type ErrorKind =
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "notFound"
  | "conflict"
  | "busy"
  | "readOnly"
  | "internal"
  | "unreachable";

export class ApiError extends Error {
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly status: number,
    /** Of a conflict: the memory as it is now. */
    readonly entry?: Entry,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

const BY_STATUS: Record<number, [ErrorKind, string]> = {
  400: ["invalid", "The server did not understand the request. Reload the page: it may be older than the server."],
  401: ["unauthorized", "This page's key is no longer valid. Run memorist explore again and use the page that it opens."],
  403: ["forbidden", "Not allowed here."],
  404: ["notFound", "Not found. It may have been deleted."],
  409: ["conflict", "The memory was changed by somebody else meanwhile."],
  413: ["invalid", "The request is too large."],
  429: ["busy", "The store is busy. Try again in a moment."],
  500: ["internal", "The server reported an error. See its log."],
  503: ["busy", "The store is busy. Try again in a moment."],
};

const KINDS = new Set(Object.values(BY_STATUS).map(([kind]) => kind));
KINDS.add("readOnly");

/** The error that an answer tells of, whatever its body is. */
export function errorOf(status: number, body: string): ApiError {
  const [kind, message] = BY_STATUS[status] ?? ["internal", `The server answered with status ${status}.`];
  try {
    const told = (JSON.parse(body) as { error?: { kind?: string; message?: string; entry?: Entry } }).error;
    return new ApiError(
      KINDS.has(told?.kind as ErrorKind) ? (told?.kind as ErrorKind) : kind,
      told?.message || message,
      status,
      told?.entry,
    );
  } catch {
    return new ApiError(kind, message, status);
  }
}

export const unreachable = () =>
  new ApiError("unreachable", "The server does not answer. If it stopped, run memorist explore again.", 0);

/** Whether a request was given up by the page itself, which is no error. */
export const isAborted = (error: unknown) => error instanceof DOMException && error.name === "AbortError";

export const worded = (error: unknown) => (error instanceof Error ? error.message : String(error));
