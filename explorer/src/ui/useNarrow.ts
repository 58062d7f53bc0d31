// Whether the window is so narrow that an open memory covers the rest.

import { useEffect, useState } from "preact/hooks";

const query = matchMedia("(max-width: 999px)");

export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const change = () => setNarrow(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return narrow;
}
