-- The tables of Mudpuppy's memory.db. The table of vectors needs an extension; only what it keeps is here.
PRAGMA journal_mode = WAL;
CREATE TABLE memory_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content TEXT NOT NULL,
  content_hash TEXT UNIQUE NOT NULL,
  entry_type TEXT NOT NULL DEFAULT 'fact',
  source TEXT DEFAULT 'manual',
  context TEXT,
  confidence REAL DEFAULT 1.0,
  importance INTEGER DEFAULT 5,
  tags TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  access_count INTEGER DEFAULT 0,
  last_accessed_at INTEGER
);
CREATE INDEX idx_entry_type ON memory_entries(entry_type);
CREATE VIRTUAL TABLE memory_fts USING fts5(content, context, tags, content='memory_entries', content_rowid='id');
CREATE TRIGGER memory_ai AFTER INSERT ON memory_entries BEGIN
  INSERT INTO memory_fts(rowid, content, context, tags) VALUES (new.id, new.content, new.context, new.tags);
END;
CREATE TABLE vec_entries_rowids (rowid INTEGER PRIMARY KEY, id, chunk_id INTEGER, chunk_offset INTEGER);
CREATE TABLE vec_entries_chunks (chunk_id INTEGER PRIMARY KEY, size INTEGER);
PRAGMA writable_schema = ON;
INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'vec_entries', 'vec_entries', 0,
  'CREATE VIRTUAL TABLE vec_entries USING vec0(entry_id INTEGER PRIMARY KEY, embedding float[384])');
PRAGMA writable_schema = OFF;
CREATE TABLE memory_access_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_id INTEGER NOT NULL,
  accessed_at INTEGER NOT NULL,
  access_type TEXT NOT NULL,
  relevance_score REAL,
  query_text TEXT
);
CREATE INDEX idx_log_memory ON memory_access_log(memory_id);

INSERT INTO memory_entries VALUES
  (1, 'User prefers dark mode for all applications', 'h1', 'preference', 'chat', 'settings of the editor', 0.9, 7,
   '["ui","theme"]', 1738540800000, 1738540900000, NULL, 2, 1738540950000),
  (2, 'The release is on Friday', 'h2', 'event', 'manual', NULL, 1.0, 5, NULL, 1738540800000, 1738540800000,
   1970000000, 0, NULL),
  (3, 'An odd one', 'h3', 'memo', NULL, '', 7, 99, 'a, b', 1738540800, '2025-02-03T00:00:00Z', 'soon', -4, 0),
  (4, '  ', 'h4', 'fact', 'manual', NULL, 1, 5, '[]', 1738540800000, 1738540800000, NULL, 0, NULL),
  (7, '# Notes of a file', 'h7', 'fact', 'file-index', NULL, 1, 5, '["notes.md"]', 1738540800000, 1738540800000, NULL,
   0, NULL);
INSERT INTO vec_entries_rowids (rowid) VALUES (1), (2), (3);
INSERT INTO memory_access_log (memory_id, accessed_at, access_type, relevance_score, query_text) VALUES
  (1, 1738540950000, 'search', 0.85, 'UI preferences'),
  (1, 1738540940000, 'get', NULL, NULL),
  (1, 1738540960000, 'inject', NULL, NULL),
  (5, 1738540960000, 'get', NULL, NULL),
  (6, 1738540960000, 'get', NULL, NULL);
