// The file of the map: columns of numbers, one row a memory.

export interface Points {
  generation: number;
  count: number;
  kinds: string[];
  projects: string[];
  agents: string[];
  id: Uint32Array;
  x: Uint16Array;
  y: Uint16Array;
  /** 0: of none. */
  project: Uint16Array;
  agent: Uint16Array;
  /** Since 1970. */
  day: Uint16Array;
  kind: Uint8Array;
  importance: Uint8Array;
  flags: Uint8Array;
}

export const SUPERSEDED = 1;
export const EXTENT = 65_536;

export function decode(buffer: ArrayBuffer): Points {
  const head = new DataView(buffer);
  const magic = buffer.byteLength >= 20 ? String.fromCharCode(...new Uint8Array(buffer, 0, 4)) : "";
  if (magic !== "MMAP" || head.getUint32(4, true) !== 1) {
    throw new Error("The map has an unknown format. Reload the page.");
  }
  const generation = head.getUint32(8, true);
  const count = head.getUint32(12, true);
  const namesLength = head.getUint32(16, true);
  const names = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 20, namesLength)));
  let at = 20 + namesLength;
  const column = <T>(type: { new (buffer: ArrayBuffer, offset: number, length: number): T; BYTES_PER_ELEMENT: number }) => {
    const values = new type(buffer, at, count);
    at += Math.ceil((count * type.BYTES_PER_ELEMENT) / 4) * 4;
    return values;
  };
  return {
    generation,
    count,
    kinds: names.kinds,
    projects: names.projects,
    agents: names.agents,
    id: column(Uint32Array),
    x: column(Uint16Array),
    y: column(Uint16Array),
    project: column(Uint16Array),
    agent: column(Uint16Array),
    day: column(Uint16Array),
    kind: column(Uint8Array),
    importance: column(Uint8Array),
    flags: column(Uint8Array),
  };
}

/** Which points pass the filters, one byte a point. */
export function decodeMask(buffer: ArrayBuffer): { generation: number; mask: Uint8Array } {
  const head = new DataView(buffer);
  const count = head.getUint32(4, true);
  const bits = new Uint8Array(buffer, 8);
  const mask = new Uint8Array(count);
  for (let at = 0; at < count; at++) mask[at] = ((bits[at >> 3] as number) >> (at & 7)) & 1;
  return { generation: head.getUint32(0, true), mask };
}
