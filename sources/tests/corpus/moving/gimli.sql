-- The tables of Gimli's index of an agent.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (
  path TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  hash TEXT NOT NULL,
  mtime INTEGER NOT NULL,
  size INTEGER NOT NULL
);
CREATE TABLE chunks (
  id TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  hash TEXT NOT NULL,
  model TEXT NOT NULL,
  text TEXT NOT NULL,
  embedding TEXT NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE TABLE embedding_cache (
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  provider_key TEXT NOT NULL,
  hash TEXT NOT NULL,
  embedding TEXT NOT NULL,
  dims INTEGER,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (provider, model, provider_key, hash)
);
CREATE VIRTUAL TABLE chunks_fts USING fts5(
  text, id UNINDEXED, path UNINDEXED, source UNINDEXED,
  model UNINDEXED, start_line UNINDEXED, end_line UNINDEXED
);
INSERT INTO meta VALUES ('memory_index_meta_v1', '{}');
INSERT INTO files VALUES
  ('MEMORY.md', 'memory', 'f1', 1770000000000, 90),
  ('sessions/a.jsonl', 'sessions', 'f2', 1770000900000, 90);
INSERT INTO chunks VALUES
  ('c2', 'MEMORY.md', 'memory', 20, 31, 'h2', 'm', 'The second piece', '[0.1]', 1770000500000),
  ('c1', 'MEMORY.md', 'memory', 1, 21, 'h1', 'm', '# Memory

The first piece', '[0.1]', 1770000500000),
  ('c1x', 'MEMORY.md', 'memory', 1, 21, 'h1', 'other', '# Memory

The first piece', '[0.1]', 1770000500000),
  ('c3', 'sessions/a.jsonl', 'sessions', 3, 3, 'h3', 'm', 'User: hello', '[0.1]', 1770000500000),
  ('c4', 'gone.md', 'memory', 0, -1, 'h4', 'm', 'Of a file that is gone', '[]', 1770000500000);
INSERT INTO embedding_cache VALUES ('local', 'm', 'k', 'h1', '[0.1]', 1, 1770000500000);
