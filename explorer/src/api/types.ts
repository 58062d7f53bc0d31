// Written by .ci/types from server/src/wire/results.json: change the structs of Rust instead.
// Times are Unix milliseconds.

/** The result of each function. */
export interface Results {
  add: AddResult;
  buildMap: BuildMapResult;
  chain: ChainResult;
  cleanup: CleanupResult;
  delete: DeleteResult;
  explain: ExplainResult;
  graph: GraphResult;
  history: HistoryResult;
  link: LinkResult;
  list: ListResult;
  mapLabels: MapLabelsResult;
  memory: MemoryResult;
  merge: MergeResult;
  neighbors: NeighborsResult;
  outdated: OutdatedResult;
  overview: Overview;
  purge: PurgeResult;
  rollback: UpdateResult;
  search: FindResult;
  searches: SearchesResult;
  similar: SimilarResult;
  stats: StatsResult;
  timeline: TimelineResult;
  undo: UndoResult;
  unlink: UnlinkResult;
  update: UpdateResult;
}

/** The result of `memory_add`. */
export interface AddResult {
  /** The memory; of a text that was saved already, the one that has it. */
  id: number;
  /** Whether it is new. */
  created: boolean;
  /** Whether the text was saved already. */
  duplicate: boolean;
  /** `pending`: keyword search only, until the memory is embedded. */
  embedding: EmbeddingState;
  /** Near duplicates. */
  warnings?: string[];
  /** Suggested links. */
  suggestions?: Suggestion[];
}

/** A memory in a list. Without text if only ids were requested. */
export interface Brief {
  id: number;
  content?: string;
  entryType: EntryType;
  source?: string;
  importance: number;
  tags: string[];
  createdAt: number;
  project?: string;
  agent?: string;
  truncated?: boolean;
}

/** Event counts of one day, week or month. */
export interface Bucket {
  start: number;
  saved: Record<string, number>;
  changed: number;
  superseded: number;
  expired: number;
  deleted: number;
}

/** The result of `buildMap`. */
export interface BuildMapResult {
  state: "making";
}

/** A memory of a chain. */
export interface ChainHit {
  id: number;
  content?: string;
  entryType: EntryType;
  source?: string;
  importance: number;
  tags: string[];
  createdAt: number;
  project?: string;
  agent?: string;
  truncated?: boolean;
  /** Distance from the start in links. */
  depth: number;
  /** The path from the start. */
  path: Step[];
}

/** The result of `memory_chain`: memories, or why there are none. */
export interface ChainResult {
  /** The start, then the nearest first. */
  results: ChainHit[];
  total: number;
  /** Whether there are more. */
  truncated: boolean;
  warnings?: string[];
  error?: string;
}

/** Memories to decide about. */
export interface CleanupGroup {
  why: string;
  similarity: number | null;
  members: Member[];
}

/** The result of `cleanup`. */
export interface CleanupResult {
  groups: CleanupGroup[];
  /** The `cursor` of the next page, if there may be one. A page without groups may have a next one, too. */
  next: string | null;
  /** The number of all groups, where it is known. */
  total: number | null;
}

/** A memory that was changed on two machines: one of the two texts is an earlier version now. */
export interface Conflict {
  /** The memory. */
  id: number;
  /** The version with the other text. */
  version: number;
  /** The number of the newest version when that was noticed: a later one means that somebody has looked. */
  newest: number;
  /** The place over which it came. */
  address: string;
}

/** The result of `memory_delete`. */
export interface DeleteResult {
  success: boolean;
  deleted: boolean;
}

export type EmbeddingState = "ready" | "pending";

/** A whole record. Times are Unix milliseconds. */
export interface Entry {
  id: number;
  content: string;
  /** SHA-256. */
  contentHash: string;
  entryType: EntryType;
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
  /** Its links, at most 50. */
  links?: Step[];
  /** Whether it has more links than these. */
  moreLinks?: boolean;
  /** The id that survives export and import. */
  ulid: string;
  /** The fields of its type beside the text. */
  body?: Record<string, unknown>;
  session?: string;
  turn?: number;
  /** File and lines that it was read from. */
  place?: PlaceInfo;
}

export type EntryType =
  | "fact"
  | "preference"
  | "event"
  | "insight"
  | "task"
  | "relationship"
  | "decision"
  | "pattern"
  | "bugfix"
  | "background"
  | "contact"
  | "project"
  | "skill"
  | "profile"
  | "conversation"
  | "chunk";

/** The result of `explain`. */
export interface ExplainResult {
  id: number;
  /** Whether the search finds it. */
  found: boolean;
  /** Its rank, from 1; null: beyond the ranked candidates. */
  rank: number | null;
  /** Maximum results of the search. */
  limit: number;
  score: number | null;
  vectorScore: number | null;
  keywordScore: number | null;
  vectorPart: number | null;
  keywordPart: number | null;
  relevance: number | null;
  /** Its rank in vector search, from 1; null: beyond the ranked candidates. */
  vectorRank: number | null;
  keywordRank: number | null;
  weights: Record<string, number>;
  words: string[];
  /** Rule that excluded it. */
  rule: string | null;
  /** The parameter, if the rule is a filter or a threshold. */
  field?: string | null;
  message: string;
}

/** A file that could not be read. */
export interface FileProblem {
  path: string;
  why: string;
}

/** A result of `search`. */
export interface FindHit {
  id: number;
  content?: string;
  entryType: EntryType;
  source?: string;
  context?: string | null;
  confidence?: number;
  importance?: number;
  tags?: string[];
  /** 0 to 1, relative to the other candidates of this search. */
  score: number;
  matchedBy: ("vector" | "keyword" | "part")[];
  createdAt: number;
  /** Cosine similarity, -1 to 1. */
  vectorScore?: number;
  /** BM25. */
  keywordScore?: number;
  /** Logit of the reranker: above 0, the memory probably answers the query. */
  logit?: number;
  /** Likelihood that it answers the query, 0 to 1; comparable between queries. */
  relevance: number;
  /** Reason why it ranks above a more relevant hit or below a less relevant one, or what it merely resembles. */
  why?: string;
  project?: string;
  agent?: string;
  session?: string;
  turn?: number;
  /** File and lines that it was read from. */
  place?: PlaceInfo;
  /** Neighbors in its session whose words counted for it. */
  boostedBy?: number[];
  /** Neighbors in its session, in order. */
  neighbors?: Neighbor[];
  /** Memories that contradict it. */
  contradictedBy?: number[];
  /** Whether content or context is a passage of the whole text. */
  truncated?: boolean;
  /** The words of its text that match, as they are spelled there. */
  words: string[];
  /** The part of its score from vector search. */
  vectorPart: number;
  /** The part from keyword search. */
  keywordPart: number;
}

/** The result of `search`: that of `memory_search`, with more of each result. */
export interface FindResult {
  results: FindHit[];
  total: number;
  noAnswer: boolean;
  nearMiss: NearMissInfo | null;
  missing: string[];
  weaker: number;
  nextCursor: string | null;
  tier: Tier;
  warnings: string[];
  explain: Record<string, unknown> | null;
}

/** A search that found a memory. */
export interface FoundByEntry {
  query: string;
  at: number;
  tool: string;
  score: number | null;
}

/** A link. */
export interface GraphEdge {
  from: number;
  to: number;
  linkType: LinkType;
}

/** A memory of a graph. */
export interface GraphNode {
  id: number;
  /** Its beginning. */
  content: string;
  entryType: EntryType;
  /** Distance from the start in links. */
  depth: number;
  /** Whether nothing supersedes it. */
  isCurrent: boolean;
}

/** The result of `graph`. */
export interface GraphResult {
  /** The start, then the nearest first. */
  nodes: GraphNode[];
  /** All links between them. */
  edges: GraphEdge[];
  /** Whether there are more memories. */
  truncated: boolean;
}

/** The result of `memory_history`: versions, or why there are none. */
export interface HistoryResult {
  /** Newest first. */
  versions: VersionEntry[];
  /** Next `before`, if there may be more. */
  next?: number;
  /** Reason why there are none. */
  error?: string;
}

/** Sizes of the indexes. */
export interface IndexCounts {
  vectors: number;
  documents: number;
  /** Changes that are not indexed yet; searches scan them exactly. */
  unapplied: number;
}

/** The label of a region. */
export interface LabelEntry {
  x: number;
  y: number;
  text: string;
  count: number;
}

/** The result of `memory_link`. */
export interface LinkResult {
  /** False if the link existed already. */
  created: boolean;
}

export type LinkType =
  | "caused"
  | "related"
  | "supersedes"
  | "implements"
  | "contradicts";

/** The result of `memory_list`. */
export interface ListResult {
  results: Brief[];
  /** Next `after`, if there may be more. */
  next?: number;
  /** Next `offset`, for an order that is not that of ids. */
  nextOffset?: number;
}

/** The searches in the search log. */
export interface LoggedSearches {
  logged: number;
  /** Searches without an answer, of the last hundred. */
  noAnswer: number;
}

/** The labels of a map. */
export interface MapLabelsResult {
  generation: number;
  /** For three distances, the farthest first. */
  levels: LabelEntry[][];
}

/** The state of the map. */
export interface MapStateResult {
  /** Whether there is one; `noModel`: no memory has a vector, so that there can be none. */
  state: "noModel" | "none" | "making" | "ready";
  /** How far the one is that is being made, from 0 to 1: also where an older one can be shown. */
  progress: number | null;
  /** The generation of the map. 0 without one. */
  generation: number;
  /** How many memories are on it. */
  points: number;
  /** How many of them were placed after the layout. */
  placed: number;
  /** How many memories the viewer sees. */
  of: number;
  /** Whether some new memories are not on it yet: they will be in a moment. */
  hasUnplaced: boolean;
  /** Whether a new layout is worth it: many were placed later, or the model is another. */
  isOld: boolean;
  /** Why the last one was not made, or is of no use. */
  why?: string | null;
}

/** A memory of a group. */
export interface Member {
  id: number;
  content: string;
  entryType: EntryType;
  version: number;
  importance: number;
  createdAt: number;
  updatedAt: number;
  accessCount: number;
  project: string | null;
  agent: string | null;
  expiresAt: number | null;
  /** Whether nothing supersedes it. */
  isCurrent: boolean;
}

/** The result of `memory`. */
export interface MemoryResult {
  entry: Entry;
  supersededBy: number[];
  contradictedBy: number[];
  /** The newest searches that found it. */
  foundBy: FoundByEntry[];
  /** Null for a live memory. */
  recoverable: RecoverableEntry | null;
}

/** The result of `merge`. */
export interface MergeResult {
  id: number;
  version: number;
  /** Ids to pass to `undo`, in this order, to revert the merge. */
  undo: number[];
}

/** A name, and how many memories have it. */
export interface NameCount {
  name: string;
  count: number;
}

/** A memory near another one. */
export interface NearHit {
  id: number;
  /** Cosine similarity of the vectors, -1 to 1. */
  similarity: number;
}

/** Best hit that a threshold excluded. */
export interface NearMissInfo {
  id: number;
  /** Beginning of its text. */
  content: string;
  threshold: Threshold;
  /** Its value: a search with this as the threshold finds it. */
  actual: number;
}

/** A memory before or after a result in its session. */
export interface Neighbor {
  id: number;
  turn?: number;
  content?: string;
}

/** The result of `neighbors`. */
export interface NeighborsResult {
  /** The nearest first. */
  results: NearHit[];
}

/** A superseded memory. */
export interface OutdatedHit {
  id: number;
  content?: string;
  entryType: EntryType;
  source?: string;
  importance: number;
  tags: string[];
  createdAt: number;
  project?: string;
  agent?: string;
  truncated?: boolean;
  /** The memories that supersede it. */
  supersededBy: number[];
}

/** The result of `memory_outdated`. */
export interface OutdatedResult {
  /** Newest first. */
  results: OutdatedHit[];
  /** Next `before`, if there may be more. */
  next?: number;
}

/** The result of `overview`, as the page gets it. */
export interface Overview {
  /** Whether the store can only be read. */
  readOnly: boolean;
  /** The visible project; null: only global memories; `*`: every project. */
  project: string | null;
  agent: string | null;
  model: string | null;
  total: number;
  byType: Record<string, number>;
  /** The projects, those with the most memories first. */
  projects: NameCount[];
  agents: NameCount[];
  oldest: number | null;
  newest: number | null;
  pendingEmbeddings: number;
  searches: LoggedSearches;
  warnings: string[];
  map: MapStateResult;
  /** The version of memorist. */
  version: string;
  /** Where the store is. */
  store: string;
  /** Other machines of the person; missing on a page that shows a part of the store. */
  machines?: Standing;
}

/** The lines of a file that a memory is from, and of a transcript who said it where. */
export interface PlaceInfo {
  path: string;
  /** From 1. */
  startLine: number;
  endLine: number;
  role?: string | null;
  cwd?: string | null;
  branch?: string | null;
  model?: string | null;
  subagent?: string | null;
}

/** How a store stands with one place. */
export interface PlaceStanding {
  /** A folder, or `ssh://HOST`. */
  address: string;
  /** The name of the machine, where that is one. */
  name: string | null;
  /** The project that is exchanged alone. */
  project: string | null;
  /** When the last exchange was complete. */
  metAt: number | null;
  /** Why the last try failed. */
  error: string | null;
}

/** The result of `memory_purge`. */
export interface PurgeResult {
  /** Memories, with all versions. */
  records: number;
  /** Earlier versions of memories that stay. */
  versions: number;
  /** Queries removed from the access log. */
  queries: number;
  /** False while the cleanup of files continues in the background. */
  complete: boolean;
  /** Files that are not part of the store and may still contain it. */
  remainingFiles?: string[];
  /** Names and paths in the store that still contain it, because they are in use. */
  stays?: string[];
}

/** The deletion or expiry of a memory that can be restored. */
export interface RecoverableEntry {
  why: "deleted" | "expired";
  at: number;
}

/** A search. */
export interface SearchEntry {
  id: number;
  searchedAt: number;
  /** `*` is every one; null: it saw only what is shared. */
  agent: string | null;
  project: string | null;
  tool: string;
  query: string;
  mode: SearchMode;
  filters?: unknown;
  hits: number;
  /** The store seemed to have no answer. */
  noAnswer: boolean;
  bestScore: number | null;
  bestCosine: number | null;
  micros: number;
}

export type SearchMode = "hybrid" | "vector" | "keyword";

/** The caller's own searches. */
export interface SearchTotals {
  logged: number;
  /** Number of newest searches that were examined. */
  last: number;
  /** Number of these without an answer. */
  noAnswer: number;
}

/** Searches that are kept. */
export interface SearchesResult {
  /** Newest first. */
  results: SearchEntry[];
  /** There may be more: ask again with this as `before`. */
  next?: number | null;
}

/** A similar memory. */
export interface SimilarHit {
  id: number;
  content: string;
  entryType: EntryType;
  /** 0 to 1: of the words or the meaning, whichever is more. */
  similarity: number;
  /** The words of its text that both have, as they are spelled there. */
  words: string[];
}

/** The result of `similar`. */
export interface SimilarResult {
  /** The most similar first. */
  results: SimilarHit[];
}

/** How a store stands with the other machines of its person: for people. */
export interface Standing {
  /** The places that are remembered. */
  places: PlaceStanding[];
  /** Memories that were changed on two machines. */
  conflicts: Conflict[];
}

/** The result of `memory_stats`. */
export interface StatsResult {
  totalEntries: number;
  byType: Record<string, number>;
  avgImportance: number;
  avgConfidence: number;
  totalAccesses: number;
  oldestEntry: number | null;
  newestEntry: number | null;
  /** Memories that only keyword search finds until they are embedded. */
  pendingEmbeddings: number;
  /** Sizes of the indexes: vectors, documents, unapplied. */
  indexes?: IndexCounts | null;
  /** Embedding model. */
  model: string | null;
  /** The search log: logged, last, noAnswer. */
  searches: SearchTotals;
  unread?: UnreadFiles | null;
}

/** A link, seen from one of its ends. */
export interface Step {
  /** The memory at the other end. */
  id: number;
  linkType: LinkType;
  /** Forward: to the other end; backward: from it. */
  direction: "forward" | "backward";
}

/** A memory that resembles a new one, with a suggested link. */
export interface Suggestion {
  /** The other memory. */
  id: number;
  /** The kind of link from the new one. */
  linkType: LinkType;
  /** 0 to 1. */
  similarity: number;
  /** Beginning of its text. */
  content: string;
}

export type Threshold = "similarity" | "score" | "relevance";

export type Tier = "full" | "keyword" | "substring";

/** The result of `timeline`. */
export interface TimelineResult {
  /** Length of a bucket. */
  unit: "day" | "week" | "month";
  /** The buckets with events, the oldest first. */
  buckets: Bucket[];
}

/** The result of `memory_undo`. */
export interface UndoResult {
  id: number;
  /** Undone operation: deletion, expiry, change, link or currentAgain. */
  undone: string;
  /** Its version now. */
  version?: number;
  /** Its text now. */
  content?: string;
  /** Links that were removed; for currentAgain, the restored links of the memories that supersede this one. */
  links?: UndoneLink[];
}

/** A link, seen from the memory. */
export interface UndoneLink {
  /** Memory at the other end. */
  id: number;
  linkType: LinkType;
}

/** The result of `memory_unlink`. */
export interface UnlinkResult {
  /** False if there was no such link. */
  removed: boolean;
}

/** Source files that could not be read. */
export interface UnreadFiles {
  count: number;
  /** The first five. */
  files: FileProblem[];
}

/** The result of `memory_update`. */
export interface UpdateResult {
  id?: number;
  updated?: boolean;
  /** Increases with each change. */
  version?: number;
  embedding?: EmbeddingState;
  /** Reason why nothing was updated. */
  error?: string;
}

/** A version of a memory. Times are Unix milliseconds. */
export interface VersionEntry {
  version: number;
  /** When it became the newest. */
  since: number;
  /** When it was replaced; null for the newest. */
  until: number | null;
  /** Why it was replaced. */
  reason: string | null;
  content: string;
  entryType: EntryType;
  source: string;
  context: string | null;
  confidence: number;
  importance: number;
  tags: string[];
  expiresAt: number | null;
  body?: Record<string, unknown>;
}
