-- The tables of OpenClaw's index in the database of an agent.
CREATE TABLE memory_index_sources (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  source TEXT NOT NULL DEFAULT 'memory',
  hash TEXT NOT NULL,
  mtime REAL NOT NULL,
  size INTEGER NOT NULL,
  UNIQUE (path, source)
) STRICT;
CREATE TABLE memory_index_chunks (
  id TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  source TEXT NOT NULL DEFAULT 'memory',
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  hash TEXT NOT NULL,
  model TEXT NOT NULL,
  text TEXT NOT NULL,
  embedding TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE memory_index_chunk_recall_metadata (
  chunk_id TEXT PRIMARY KEY,
  importance INTEGER CHECK (importance IS NULL OR importance BETWEEN 1 AND 10),
  triggers TEXT,
  project_key TEXT
) STRICT;
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER);
INSERT INTO memory_index_sources VALUES (1, 'memory/2026-02-02.md', 'memory', 'f', 1770000000000.25, 9);
INSERT INTO memory_index_chunks VALUES
  ('k1', 'memory/2026-02-02.md', 'memory', 1, 4, 'h', 'm', 'Bought tea', '[0.1]', 1770000001000);
INSERT INTO memory_index_chunk_recall_metadata VALUES ('k1', 9, 'tea', 'home');
INSERT INTO transcript_events VALUES ('s', 1, '{}', 1);
