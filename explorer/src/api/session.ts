// The key of this page: a one-time code from the address is exchanged for a token, which stays in this tab.
// Other tabs of the same page get it from one that has it.

import { errorOf, unreachable } from "./errors.ts";

const KEY = "memorist-token";
const WAIT_FOR_OTHER_TABS = 300;

export const token = () => sessionStorage.getItem(KEY);
export const forget = () => sessionStorage.removeItem(KEY);

/** The one-time code in a fragment. */
export function codeIn(hash: string): string | null {
  return /^#code=([A-Za-z0-9_-]+)$/.exec(hash)?.[1] ?? null;
}

/** Finds the token of this page: by the code, in this tab, or in another one. */
export async function open(): Promise<boolean> {
  const code = codeIn(location.hash);
  if (code) {
    // At once, so that it stays neither in the address bar nor in the history.
    history.replaceState(null, "", location.pathname);
    sessionStorage.setItem(KEY, await exchange(code));
  }
  if (!token()) {
    const given = await fromOtherTab();
    if (given) sessionStorage.setItem(KEY, given);
  }
  share();
  return token() !== null;
}

async function exchange(code: string): Promise<string> {
  const response = await fetch("api/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
    cache: "no-store",
  }).catch(() => {
    throw unreachable();
  });
  const body = await response.text();
  if (!response.ok) throw errorOf(response.status, body);
  return (JSON.parse(body) as { token: string }).token;
}

function fromOtherTab(): Promise<string | null> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(KEY);
    const end = (given: string | null) => {
      channel.close();
      resolve(given);
    };
    const timer = setTimeout(() => end(null), WAIT_FOR_OTHER_TABS);
    channel.onmessage = ({ data }) => {
      if (typeof data?.token !== "string") return;
      clearTimeout(timer);
      end(data.token);
    };
    channel.postMessage({ ask: true });
  });
}

let shared: BroadcastChannel | undefined;

function share() {
  shared ??= new BroadcastChannel(KEY);
  shared.onmessage = ({ data }) => {
    const mine = token();
    if (data?.ask && mine) shared?.postMessage({ token: mine });
  };
}
