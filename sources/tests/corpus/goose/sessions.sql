-- The tables that are read, as Goose 1.20 makes them.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '',
  user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
  content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  tokens INTEGER, metadata_json TEXT
);
INSERT INTO sessions VALUES ('20261102_1', 'Rename', '', 0, 'user', '/p', '2026-11-02 09:00:00', '2026-11-02 09:00:09');
INSERT INTO sessions VALUES ('20261102_2', '', 'Older name', 0, 'sub_agent', '/p', '2026-11-02 09:00:00', '2026-11-02 09:00:05');
INSERT INTO sessions VALUES ('20261102_3', 'Naming', '', 0, 'hidden', '/p', '2026-11-02 09:00:00', '2026-11-02 09:00:05');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'user', '[{"type":"text","text":"Rename the\nfunction."}]', 1793610000, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'assistant', '[{"type":"thinking","thinking":"hm","signature":""},{"type":"text","text":"Which one?"},{"type":"text","text":"There are two."}]', 1793610001, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'assistant', '[{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"x","arguments":{}}}}]', 1793610002, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'user', '[{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"text","text":"secret output"}]}}]', 1793610003, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'assistant', '[{"type":"thinking","thinking":"hm","signature":""}]', 1793610004, NULL);
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'user', '[{"type":"text","text":"A summary: two functions."}]', 1793610005, '{"userVisible":false,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'assistant', '[{"type":"text","text":"Your context was compacted. The previous message contains a summary."}]', 1793610005, '{"userVisible":false,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'assistant', '[{"type":"text","text":"archived"}]', 1793610006, '{"userVisible":false,"agentVisible":false}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'assistant', '[{"type":"systemNotification","notificationType":"inlineMessage","msg":"compacted"}]', 1793610006, '{"userVisible":true,"agentVisible":false}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'user', '[{"type":"text","text":"seen by the user alone"}]', 1793610007, '{"userVisible":true,"agentVisible":false}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_2', 'user', '[{"type":"text","text":"find both"}]', 1793610008000, 'null');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_3', 'user', '[{"type":"text","text":"name this"}]', 1793610008, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'system', '[{"type":"text","text":"be nice"}]', 1793610008, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'user', 'no JSON', 1793610008, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'user', X'ff', 1793610008, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'user', 7, 1793610008, '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_1', 'user', '"a text alone"', 'soon', '{"userVisible":true,"agentVisible":true}');
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES ('20261102_9', 'user', '[{"type":"text","text":"of no session"}]', 1793610009, '[]');
