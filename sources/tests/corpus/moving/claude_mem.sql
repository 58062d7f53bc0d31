-- The tables of claude-mem that hold what was said and learnt, and some of the others.
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL,
  memory_session_id TEXT UNIQUE,
  project TEXT NOT NULL,
  platform_source TEXT NOT NULL DEFAULT 'claude',
  user_prompt TEXT,
  started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL,
  completed_at TEXT,
  completed_at_epoch INTEGER,
  status TEXT NOT NULL DEFAULT 'active',
  worker_port INTEGER,
  prompt_counter INTEGER DEFAULT 0,
  custom_title TEXT
);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL,
  text TEXT,
  type TEXT NOT NULL,
  title TEXT,
  subtitle TEXT,
  facts TEXT,
  narrative TEXT,
  concepts TEXT,
  files_read TEXT,
  files_modified TEXT,
  prompt_number INTEGER,
  discovery_tokens INTEGER DEFAULT 0,
  content_hash TEXT,
  merged_into_project TEXT,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL,
  request TEXT,
  investigated TEXT,
  learned TEXT,
  completed TEXT,
  next_steps TEXT,
  files_read TEXT,
  files_edited TEXT,
  notes TEXT,
  prompt_number INTEGER,
  discovery_tokens INTEGER DEFAULT 0,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
);
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_db_id INTEGER,
  content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  prompt_text TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
);
CREATE VIRTUAL TABLE user_prompts_fts USING fts5(prompt_text, content='user_prompts', content_rowid='id');
CREATE TABLE tool_uses (id INTEGER PRIMARY KEY, tool_name TEXT NOT NULL);
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL);
CREATE TABLE other (what TEXT);
INSERT INTO schema_versions VALUES (1, 4, 'x');
INSERT INTO sdk_sessions (id, content_session_id, memory_session_id, project, user_prompt, started_at, started_at_epoch,
  custom_title) VALUES
  (1, 'c-1', 'm-1', 'shop', 'Fix the cart', '2026-02-02T02:40:00.000Z', 1770000000000, 'The cart'),
  (2, 'c-2', NULL, 'blog', 'Write a post', '2026-02-02T02:40:00.000Z', 1770000000000, NULL);
INSERT INTO observations (id, memory_session_id, project, text, type, title, subtitle, facts, narrative, concepts,
  files_read, files_modified, prompt_number, merged_into_project, created_at, created_at_epoch) VALUES
  (1, 'm-1', 'shop', NULL, 'bugfix', 'Cart total was wrong', 'Rounding', '["Cents are whole","Tax is last"]',
   'It rounded twice.', '["gotcha","problem-solution"]', '["a.rs"]', '["b.rs","c.rs"]', 1, NULL,
   '2026-02-02T02:41:00.000Z', 1770000060000),
  (2, 'm-1', 'shop', NULL, 'discovery', 'Tax is a table', NULL, '[]', 'It is read at start.', NULL, NULL, '[]', 2,
   'store', '2026-02-02T02:42:00.000Z', 1770000120000),
  (3, 'm-9', 'shop', 'An old one, of text alone', 'change', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
   '2026-02-02T02:43:00.000Z', 1770000180000);
INSERT INTO session_summaries VALUES
  (1, 'm-1', 'shop', 'Fix the cart', 'The total', 'Round once', 'Fixed', 'Deploy', '["a.rs"]', 'b.rs', NULL, 2, 0,
   '2026-02-02T02:44:00.000Z', 1770000240000);
INSERT INTO user_prompts VALUES
  (1, 1, 'c-1', 1, 'Fix the cart', '2026-02-02T02:40:00.000Z', 1770000000000);
INSERT INTO tool_uses VALUES (1, 'Bash');
INSERT INTO other VALUES ('x');
