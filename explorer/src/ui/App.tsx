import { useStore } from "../state/store.ts";
import { Cleanup } from "./Cleanup.tsx";
import { Dialogs } from "./Dialogs.tsx";
import { Filters } from "./Filters.tsx";
import { Header } from "./Header.tsx";
import { List } from "./List.tsx";
import { MapView } from "./MapView.tsx";
import { Memory } from "./Memory.tsx";
import { Searches } from "./Searches.tsx";
import { Timeline } from "./Timeline.tsx";
import { Toasts } from "./Toasts.tsx";
import { useNarrow } from "./useNarrow.ts";

const VIEWS = { list: List, map: MapView, timeline: Timeline, searches: Searches, cleanup: Cleanup };

export function App() {
  const session = useStore((state) => state.session);
  if (session === "starting") return <p class="starting">Opening the memory…</p>;
  if (session === "closed") return <Closed />;
  return <Open />;
}

function Open() {
  const view = useStore((state) => state.address.view);
  const open = useStore((state) => state.address.id !== null);
  const covered = useNarrow() && open;
  const View = VIEWS[view];
  return (
    <div class={`page view-${view}${open ? " has-memory" : ""}`}>
      <a class="skip" href="#middle" onClick={skip}>Skip to the memories</a>
      <div class="rest" inert={covered}>
        <Header />
        <Filters />
        <main id="middle" class="middle" tabIndex={-1}>
          <View />
        </main>
      </div>
      {open && <Memory />}
      <Toasts />
      <Dialogs />
      <Announcer />
    </div>
  );
}

function skip(event: Event) {
  event.preventDefault();
  document.getElementById("middle")?.focus();
}

function Announcer() {
  const announced = useStore((state) => state.announced);
  return <div class="sr-only" role="status" aria-live="polite">{announced}</div>;
}

function Closed() {
  const because = useStore((state) => state.closedBecause);
  return (
    <main class="closed">
      <img src="icon.svg" alt="" width="48" height="48" />
      <h1>memorist explorer</h1>
      <p role="alert">{because}</p>
      <pre>memorist explore</pre>
      <p class="quiet">Each page has its own key, which ends with the server. Nothing was lost.</p>
    </main>
  );
}
