-- Krolik's memories, as its document names their columns, and its links, as it creates them.
CREATE TABLE memories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  importance TEXT NOT NULL DEFAULT 'medium',
  project TEXT,
  feature TEXT,
  tags TEXT,
  usage_count INTEGER DEFAULT 0,
  created_at TEXT,
  created_at_epoch INTEGER
);
CREATE VIRTUAL TABLE memories_fts USING fts5(title, description, content='memories', content_rowid='id');
CREATE TABLE memory_embeddings_rowids (rowid INTEGER PRIMARY KEY);
PRAGMA writable_schema = ON;
INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'memory_embeddings', 'memory_embeddings', 0,
  'CREATE VIRTUAL TABLE memory_embeddings USING vec0(memory_id INTEGER PRIMARY KEY, embedding FLOAT[384])');
PRAGMA writable_schema = OFF;
CREATE TABLE IF NOT EXISTS memory_links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  from_id INTEGER NOT NULL,
  to_id INTEGER NOT NULL,
  link_type TEXT NOT NULL,
  created_at TEXT DEFAULT (datetime('now')),
  UNIQUE(from_id, to_id, link_type)
);
CREATE TABLE schema_notes (note TEXT);
INSERT INTO memories VALUES
  (1, 'decision', 'Use SQLite', 'One file is easy to move.', 'critical', 'shop', 'storage', '["db"]', 4,
   '2026-02-02T02:40:00Z', 1770000000000),
  (2, 'bugfix', 'Fixed the lock', 'Waited for it.', 'high', 'shop', NULL, NULL, 0, '2026-02-02T02:40:00Z', NULL),
  (3, 'pattern', 'Only a title', '', 'low', 'shop', 'style', NULL, 0, NULL, 1770000000),
  (4, 'observation', 'Slow start', 'Takes 3 s.', 'urgent', '*', NULL, NULL, 0, NULL, NULL),
  (5, 'fact', '', 'Only a description', 'medium', 'shop', 'text', NULL, 0, NULL, NULL);
INSERT INTO memory_embeddings_rowids VALUES (1);
INSERT INTO memory_links (from_id, to_id, link_type, created_at) VALUES
  (2, 1, 'implements', '2026-02-02 02:40:00'), (2, 1, 'caused', NULL), (3, 2, 'supersedes', NULL),
  (3, 1, 'contradicts', NULL), (4, 1, 'related', NULL), (4, 2, 'mentions', NULL), (4, 9, 'related', NULL),
  (4, 4, 'related', NULL);
INSERT INTO schema_notes VALUES ('x');
