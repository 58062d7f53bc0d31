-- mem0's history.db.
CREATE TABLE history (
  id           TEXT PRIMARY KEY,
  memory_id    TEXT,
  old_memory   TEXT,
  new_memory   TEXT,
  event        TEXT,
  created_at   DATETIME,
  updated_at   DATETIME,
  is_deleted   INTEGER,
  actor_id     TEXT,
  role         TEXT
);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT, created_at DATETIME);
INSERT INTO history VALUES
  ('z', 'ca728113-0f1f-4827-a80e-f57927cd635b', NULL, 'Likes coffee', 'ADD', '2026-02-02T02:40:00+00:00',
   '2026-02-02T02:40:00+00:00', 0, NULL, NULL),
  ('y', 'ca728113-0f1f-4827-a80e-f57927cd635b', 'Likes coffee', 'Likes tea', 'UPDATE', '2026-02-02T02:40:00+00:00',
   '2026-02-02T02:41:00+00:00', 0, NULL, NULL),
  ('x', 'm-2', NULL, 'Owns a cat', 'ADD', '2026-02-02T02:40:00+00:00', NULL, 0, NULL, NULL),
  ('w', 'm-3', NULL, 'Was wrong', 'ADD', '2026-02-02T02:40:00+00:00', NULL, 0, NULL, NULL),
  ('v', 'm-3', 'Was wrong', NULL, 'DELETE', '2026-02-02T02:40:00+00:00', '2026-02-02T02:42:00+00:00', 1, NULL, NULL);
INSERT INTO messages VALUES ('1', 's', 'user', 'Hi', NULL, NULL);
