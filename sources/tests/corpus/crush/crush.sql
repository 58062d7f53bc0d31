-- The tables that are read, as Crush 0.90 makes them.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT
);
CREATE TABLE messages (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT,
  is_summary_message INTEGER DEFAULT 0 NOT NULL
);
INSERT INTO sessions VALUES ('s1', NULL, 'The port', 8, 1793610000, 1793610000, 'm8');
INSERT INTO sessions VALUES ('s2', 's1', 'Task', 2, 1793610000, 1793610000, NULL);
INSERT INTO messages VALUES ('m1', 's1', 'user', '[{"type": "text", "data": {"text": "Which port does the proxy take?"}}, {"type": "finish", "data": {"reason": "stop", "time": 0}}]', NULL, 1793610000, 1793610000, NULL, 'p', 0);
INSERT INTO messages VALUES ('m2', 's1', 'assistant', '[{"type": "reasoning", "data": {"thinking": "hm"}}, {"type": "text", "data": {"text": "I look at it."}}, {"type": "tool_call", "data": {"id": "c", "name": "view", "input": "{}", "finished": true}}, {"type": "finish", "data": {"reason": "tool_use", "time": 1793610000}}]', 'm', 1793610001, 1793610002, NULL, 'p', 0);
INSERT INTO messages VALUES ('m3', 's1', 'tool', '[{"type": "tool_result", "data": {"tool_call_id": "c", "name": "view", "content": "secret output", "is_error": false}}]', NULL, 1793610003, 1793610003, NULL, 'p', 0);
INSERT INTO messages VALUES ('m4', 's1', 'assistant', '[{"type": "tool_call", "data": {"id": "d", "name": "question", "input": "{}"}}]', 'm', 1793610004, 1793610004, NULL, 'p', 0);
INSERT INTO messages VALUES ('m5', 's1', 'tool', '[{"type": "tool_result", "data": {"tool_call_id": "d", "name": "question", "content": "Q1: Of which proxy?\nUser selected: [\"new\"]\nUser provided: only that one"}}]', NULL, 1793610005, 1793610005, NULL, 'p', 0);
INSERT INTO messages VALUES ('m6', 's1', 'tool', '[{"type": "tool_result", "data": {"tool_call_id": "e", "name": "question", "content": "User cancelled this question", "is_error": true}}]', NULL, 1793610006, 1793610006, NULL, 'p', 0);
INSERT INTO messages VALUES ('m7', 's1', 'user', '[{"type": "binary", "data": {"Path": "a.png", "MIMEType": "image/png", "Data": "AAAA"}}, {"type": "text", "data": {"text": "<system-reminder>\nx\n</system-reminder>\nAnd this?"}}, {"type": "shell_command", "data": {"command": "ls", "output": "secret output"}}]', NULL, 1793610007, 1793610007, NULL, 'p', 0);
INSERT INTO messages VALUES ('m8', 's1', 'assistant', '[{"type": "text", "data": {"text": "The port was looked for."}}]', 'm', 1793610008, 1793610008, NULL, 'p', 1);
INSERT INTO messages VALUES ('m9', 's2', 'user', '[{"type": "text", "data": {"text": "Find the port."}}]', NULL, 1793610009, 1793610009, NULL, 'p', 0);
INSERT INTO messages VALUES ('m10', 's2', 'assistant', '[{"type": "text", "data": {"text": "It takes\n\n8443."}}, {"type": "hologram", "data": {}}]', 'm', 1793610010000, 1793610010000, NULL, 'p', 0);
INSERT INTO messages VALUES ('m11', 'gone', 'system', '[{"type": "text", "data": {"text": "x"}}]', NULL, 1793610011, 1793610011, NULL, 'p', 0);
INSERT INTO messages VALUES ('m12', 'gone', 'user', 'no JSON', NULL, 1793610012, 1793610012, NULL, 'p', 0);
INSERT INTO messages VALUES ('m13', 'gone', 'user', '[7, null, {"type": "text", "data": {"text": 8}}, {"type": "text", "data": {"text": "half of a character: \ud83d"}}]', NULL, 1793610013, 1793610013, NULL, 'p', 0);
