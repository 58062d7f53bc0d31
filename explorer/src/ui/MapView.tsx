import { useEffect, useState } from "preact/hooks";
import * as api from "../api/client.ts";
import { worded } from "../api/errors.ts";
import type { MapLabelsResult } from "../api/types.ts";
import type { Points } from "../map/points.ts";
import { make } from "../state/map.ts";
import { loadPoints, knownPoints } from "../state/points.ts";
import * as overview from "../state/overview.ts";
import { useStore } from "../state/store.ts";
import { MapChart } from "./MapChart.tsx";
import { useLoad } from "./useLoad.ts";

const PROGRESS = 1000;
/** Fewer memories make no map. */
const FEWEST = 10;

/** All memories at a glance: what is near in meaning is mostly near on the map. */
export function MapView() {
  const map = useStore((state) => state.overview?.map ?? null);
  const total = useStore((state) => state.overview?.total ?? 0);
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const [points, setPoints] = useState<Points | null>(knownPoints() ?? null);
  const [error, setError] = useState<string | null>(null);
  const revision = useStore((state) => state.revision);
  const [tries, setTries] = useState(0);
  // While another is made, the last one is shown.
  const ready = map?.state === "ready" || (map?.generation ?? 0) > 0;
  const generation = map?.generation ?? 0;
  useEffect(() => {
    if (!ready) return;
    setError(null);
    loadPoints(true).then(setPoints, (failed) => setError(worded(failed)));
  }, [ready, generation, revision, tries]);
  const isMade = map?.state === "making";
  const making = isMade || map?.hasUnplaced === true;
  useEffect(() => {
    if (!making) return;
    const timer = setInterval(() => {
      if (document.hidden) return;
      void overview.load();
      if (!isMade) setTries((tries) => tries + 1);
    }, PROGRESS);
    return () => clearInterval(timer);
  }, [making, isMade]);
  const missing = map?.state === "none" && map.generation === 0 && !map.why && !readOnly && total >= FEWEST;
  useEffect(() => {
    if (missing) void make("scratch");
  }, [missing]);
  const labels = useLoad<MapLabelsResult | null>(`${generation}`, 0, (signal) => ready ? api.mapLabels({}, signal) : Promise.resolve(null));
  if (error && !points) return <Message title="The map cannot be shown" text={error} button="Try again" act={() => setTries(tries + 1)} />;
  if (!map) return <p class="quiet foot">Loading…</p>;
  if (map.state === "noModel" && total >= FEWEST) {
    return <Message title="No map without a model" text="A map needs an embedding model. memorist doctor says how to get one." />;
  }
  if ((isMade || missing) && !points) return <Making progress={map.progress ?? 0} />;
  if (!ready) return <NoMap />;
  if (!points) return <p class="quiet foot">Loading the map…</p>;
  return <MapChart points={points} labels={labels.data?.levels ?? []} newer={setPoints} />;
}

function Message({ title, text, button, act }: { title: string; text: string; button?: string; act?: () => void }) {
  return (
    <div class="empty">
      <h1>{title}</h1>
      <p>{text}</p>
      {button && <button type="button" class="primary" onClick={act}>{button}</button>}
    </div>
  );
}

function NoMap() {
  const total = useStore((state) => state.overview?.total ?? 0);
  const readOnly = useStore((state) => state.overview?.readOnly ?? true);
  const why = useStore((state) => state.overview?.map?.why ?? null);
  if (why) return <Message title="The map could not be built" text={why} button={readOnly ? undefined : "Try again"} act={() => void make("scratch")} />;
  if (total < FEWEST) {
    const text = `The map is built automatically from ${FEWEST} memories on. Run memorist connect, so that agents save memories.`;
    return <Message title="No map yet" text={text} />;
  }
  return <Message title="No map yet" text="This page is read-only. Run memorist explore without --read-only to build the map." />;
}

function Making({ progress }: { progress: number }) {
  const percent = Math.round(progress * 100);
  return (
    <div class="empty">
      <h1>Building the map</h1>
      <progress max="100" value={percent} aria-label="Progress of the map" />
      <p class="quiet">{percent} %. You can go on with anything else.</p>
    </div>
  );
}
