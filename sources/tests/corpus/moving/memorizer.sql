-- The tables of Memorizer's memory.db, with the key columns of its document. Of the table of vectors, only what it keeps
-- is here.
CREATE TABLE facts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL DEFAULT 'main',
  fact TEXT NOT NULL,
  category TEXT NOT NULL,
  source TEXT,
  confidence REAL DEFAULT 1.0,
  created_at TEXT DEFAULT CURRENT_TIMESTAMP,
  updated_at TEXT,
  last_accessed_at TEXT
);
CREATE VIRTUAL TABLE facts_fts USING fts5(fact, content='facts', content_rowid='id', tokenize='porter unicode61');
CREATE TABLE vec_facts_rowids (rowid INTEGER PRIMARY KEY);
PRAGMA writable_schema = ON;
INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'vec_facts', 'vec_facts', 0,
  'CREATE VIRTUAL TABLE vec_facts USING vec0(embedding float[768])');
PRAGMA writable_schema = OFF;
CREATE TABLE conversations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  session_id TEXT,
  user_message TEXT,
  agent_response TEXT,
  tags TEXT,
  created_at TEXT
);
CREATE TABLE profiles (agent_id TEXT PRIMARY KEY, profile_data TEXT NOT NULL, created_at TEXT, updated_at TEXT);
CREATE TABLE profile_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  profile_data TEXT NOT NULL,
  changed_at TEXT,
  change_reason TEXT
);
CREATE TABLE skills (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  enabled INTEGER DEFAULT 1,
  trigger_type TEXT,
  trigger_config TEXT,
  instructions TEXT,
  required_tools TEXT,
  execution_plan TEXT,
  max_steps INTEGER DEFAULT 10,
  last_run_at TEXT
);
CREATE TABLE contacts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  name TEXT,
  email TEXT,
  company TEXT,
  role TEXT,
  type TEXT
);
CREATE TABLE projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  name TEXT NOT NULL,
  status TEXT,
  type TEXT,
  description TEXT,
  primary_contact_id INTEGER,
  participants TEXT,
  company TEXT,
  priority TEXT
);

INSERT INTO facts VALUES
  (1, 'main', 'Likes tea', 'preference', 'conversation', 0.8, '2026-02-02 02:40:00', '2026-02-02 02:41:00',
   '2026-02-02 02:42:00'),
  (2, 'other', 'Works with Ada', 'contact', NULL, NULL, '2026-02-02 02:40:00', NULL, NULL),
  (3, 'main', 'Of no known category', 'hobby', NULL, 1, 'long ago', NULL, NULL);
INSERT INTO vec_facts_rowids VALUES (1), (2);
INSERT INTO conversations VALUES
  (1, 'main', 's1', 'How is the weather?', 'Fine.', '["weather"]', '2026-02-02 02:40:00'),
  (2, 'main', 's1', 'And tomorrow?', '', NULL, '2026-02-02 02:41:00'),
  (3, 'main', NULL, 'Hello', 'Hi', NULL, '2026-02-02 02:42:00');
INSERT INTO profiles VALUES
  ('main', '{"name":"Ann","likes":["tea","rain"]}', '2026-02-02 02:40:00', '2026-02-02 02:44:00'),
  ('plain', 'Ann likes tea', NULL, NULL);
INSERT INTO profile_history VALUES
  (1, 'main', '{"name":"Ann"}', '2026-02-02 02:44:00', NULL),
  (2, 'main', '{"name":"A."}', '2026-02-02 02:43:00', 'full name'),
  (3, 'main', '{"name":"Ann","likes":["tea","rain"]}', '2026-02-02 02:45:00', 'again'),
  (4, 'gone', '{"name":"Bo"}', '2026-02-02 02:44:00', NULL);
INSERT INTO skills VALUES
  (1, 'main', 'Water plants', 'Every week', 0, 'cron', '{"at":"0 9 * * 1"}', 'Ask, then water.', '["water"]',
   '[{"step":1}]', 3, '2026-02-02'),
  (2, 'main', 'Greet', NULL, 1, NULL, 'daily', 'Say hello.', 'say, wave', 'say it', 0, NULL),
  (3, 'main', 'No instructions', 'But a description', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO contacts VALUES
  (1, 'main', 'Ada', 'ada@example.org', 'Engines', 'analyst', 'work'),
  (2, 'main', 'Bo', NULL, NULL, NULL, 'friend');
INSERT INTO projects VALUES
  (1, 'main', 'Engine', 'active', 'work', 'Builds it', 1, '["Cy", 2, {"name":"Di"}, "1", "ulid:x", 9]', 'Engines', 'high'),
  (2, 'main', 'Lost', NULL, NULL, NULL, 7, NULL, NULL, NULL);
