// What the API takes and answers. Times are Unix milliseconds.

export type Mode = "hybrid" | "vector" | "keyword";
export type LinkType = "caused" | "related" | "supersedes" | "implements" | "contradicts";

export interface Named {
  name: string;
  count: number;
}

export interface MapState {
  state: "none" | "making" | "ready" | "noModel";
  progress: number | null;
  generation: number;
  points: number;
  placed: number;
  of: number;
  /** So much is new, or the model another, that a new layout is worth it. */
  isOld: boolean;
  /** Some new ones are not on it yet: they will be in a moment. */
  hasUnplaced?: boolean;
  /** Why the last one was not made. */
  why: string | null;
}

export interface Overview {
  version: string;
  store: string;
  readOnly: boolean;
  /** `*` is all. */
  project: string | null;
  agent: string | null;
  model: string | null;
  total: number;
  byType: Record<string, number>;
  projects: Named[];
  agents: Named[];
  oldest: number | null;
  newest: number | null;
  pendingEmbeddings: number;
  searches: { logged: number; noAnswer: number };
  warnings: string[];
  map: MapState;
  /** Other machines of the person; missing on a page that sees a part. */
  machines?: Machines;
}

/** How the store stands with the other machines of its person. */
export interface Machines {
  places: { address: string; name: string | null; project: string | null; metAt: number | null; error: string | null }[];
  /** Memories that were changed on two machines: the version has the other text. */
  conflicts: { id: number; version: number; newest: number; address: string }[];
}

export interface Place {
  path: string;
  startLine: number;
  endLine: number;
  role?: string;
  branch?: string;
}

/** A memory in a list. */
export interface Brief {
  id: number;
  content?: string;
  entryType: string;
  source?: string;
  importance?: number;
  tags?: string[];
  createdAt: number;
  project?: string;
  agent?: string;
  truncated?: boolean;
}

/** A memory that a search found. */
export interface Hit extends Brief {
  score: number;
  matchedBy: ("vector" | "keyword")[];
  vectorScore?: number;
  keywordScore?: number;
  vectorPart?: number;
  keywordPart?: number;
  relevance: number;
  /** Why it stands where its relevance does not say so. */
  why?: string;
  words?: string[];
  session?: string;
  turn?: number;
  place?: Place;
  boostedBy?: number[];
  contradictedBy?: number[];
}

export interface SearchResult {
  results: Hit[];
  total: number;
  noAnswer?: boolean;
  nearMiss?: { id: number; content: string; threshold: string; actual: number };
  /** Identifiers, codes and paths of the query that no memory has. */
  missing?: string[];
  /** How many more there are that are hardly relevant. */
  weaker?: number;
  nextCursor?: string;
  tier: "full" | "keyword" | "substring";
  warnings?: string[];
  explain?: Record<string, unknown>;
}

export interface ListResult {
  results: Brief[];
  next?: number;
  nextOffset?: number;
}

export interface Link {
  id: number;
  linkType: LinkType;
  direction: "forward" | "backward";
}

/** A whole memory. */
export interface Entry {
  id: number;
  content: string;
  contentHash: string;
  entryType: string;
  source: string;
  context: string | null;
  confidence: number;
  importance: number;
  tags: string[];
  createdAt: number;
  updatedAt: number;
  expiresAt: number | null;
  accessCount: number;
  lastAccessedAt: number | null;
  project: string | null;
  agent: string | null;
  version: number;
  links?: Link[];
  moreLinks?: boolean;
  ulid: string;
  body?: unknown;
  session?: string;
  turn?: number;
  place?: Place;
}

export interface MemoryResult {
  entry: Entry;
  supersededBy: number[];
  contradictedBy: number[];
  foundBy: { query: string; at: number; tool: string; score: number | null }[];
  recoverable: { why: "deleted" | "expired"; at: number } | null;
}

export interface ExplainResult {
  id: number;
  found: boolean;
  rank: number | null;
  limit: number;
  score: number | null;
  vectorScore: number | null;
  keywordScore: number | null;
  vectorPart: number | null;
  keywordPart: number | null;
  relevance: number | null;
  vectorRank: number | null;
  keywordRank: number | null;
  words: string[];
  rule: string | null;
  field?: string;
  message: string;
}

export interface Version {
  version: number;
  since: number;
  until: number | null;
  reason: string | null;
  content: string;
  entryType: string;
  source: string;
  context: string | null;
  confidence: number;
  importance: number;
  tags: string[];
  expiresAt: number | null;
  body?: unknown;
}

export interface HistoryResult {
  versions: Version[];
  next?: number;
  error?: string;
}

export interface GraphNode {
  id: number;
  content: string;
  entryType: string;
  depth: number;
  isCurrent: boolean;
}

export interface GraphEdge {
  from: number;
  to: number;
  linkType: LinkType;
}

export interface GraphResult {
  nodes: GraphNode[];
  edges: GraphEdge[];
  truncated: boolean;
}

export interface Bucket {
  start: number;
  saved: Record<string, number>;
  changed: number;
  superseded: number;
  expired: number;
  deleted: number;
}

export interface TimelineResult {
  unit: "day" | "week" | "month";
  buckets: Bucket[];
}

export interface PastSearch {
  id: number;
  searchedAt: number;
  agent: string | null;
  project: string | null;
  tool: string;
  query: string;
  mode: Mode;
  filters?: unknown;
  hits: number;
  noAnswer: boolean;
  bestScore: number | null;
  bestCosine: number | null;
  micros: number;
}

export interface SearchesResult {
  results: PastSearch[];
  next?: number | null;
}

export interface Member {
  id: number;
  content: string;
  entryType: string;
  version: number;
  importance: number;
  createdAt: number;
  updatedAt: number;
  accessCount: number;
  project: string | null;
  agent: string | null;
  expiresAt: number | null;
  isCurrent: boolean;
}

export interface Group {
  why: string;
  similarity: number | null;
  members: Member[];
}

export interface CleanupResult {
  groups: Group[];
  next?: string | null;
  total: number | null;
}

export interface SimilarResult {
  results: { id: number; content: string; entryType: string; similarity: number; words?: string[] }[];
}

export interface NeighborsResult {
  results: { id: number; similarity: number }[];
}

export interface MapLabel {
  x: number;
  y: number;
  text: string;
  count: number;
}

export interface MapLabels {
  generation: number;
  levels: MapLabel[][];
}

export interface PurgeResult {
  records: number;
  versions: number;
  queries: number;
  complete: boolean;
  /** Left out on a page that sees a part. */
  remainingFiles?: string[];
  /** Left out if nothing stays. */
  stays?: string[];
}
