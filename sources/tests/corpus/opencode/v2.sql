-- The tables that are read, as opencode 2.0 makes them.
CREATE TABLE session_v2 (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT,
  version TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL
);
CREATE TABLE session_message (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL
);
INSERT INTO session_v2 VALUES ('ses_1', 'p', NULL, 's', '/p', 'Green build', '2.0', 1793610000000, 1793610000000);
INSERT INTO session_v2 VALUES ('ses_3', 'p', 'ses_1', 's', '/p', NULL, '2.0', 1793610000000, 1793610000000);
INSERT INTO session_message VALUES ('n14', 'ses_3', 'assistant', 13, 1793610009013, 1793610009013, '{"content":null,"model":null}');
INSERT INTO session_message VALUES ('n13', 'ses_3', 'assistant', 12, 1793610009012, 1793610009012, '{"content":[{"type":"tool"}]}');
INSERT INTO session_message VALUES ('n12', 'ses_3', 'user', 11, 1793610009011, 1793610009011, '{"text":"Check it."}');
INSERT INTO session_message VALUES ('n11', 'ses_1', 'user', 10, 1793610009010, 1793610009010, 'nonsense');
INSERT INTO session_message VALUES ('n10', 'ses_1', 'user', 9, 1793610009009, 1793610009009, '[]');
INSERT INTO session_message VALUES ('n9', 'ses_1', 'hologram', 8, 1793610009008, 1793610009008, '{}');
INSERT INTO session_message VALUES ('n8', 'ses_1', 'compaction', 7, 1793610009007, 1793610009007, '{"reason":"auto","summary":"It became green.","recent":"x"}');
INSERT INTO session_message VALUES ('n7', 'ses_1', 'assistant', 6, 1793610009006, 1793610009006, '{"agent":"build","model":{"id":"m2","providerID":"p"},"content":[{"type":"reasoning","id":"r","text":"hm"},{"type":"text","id":"t","text":"It is"},{"type":"tool","id":"c","name":"bash","state":{"status":"completed","content":[{"type":"text","text":"secret output"}]}},{"type":"text","id":"t2","text":"green now."},{"type":"text","id":"t3","text":"x","synthetic":true}],"time":{"created":1793610009000}}');
INSERT INTO session_message VALUES ('n6', 'ses_1', 'shell', 5, 1793610009005, 1793610009005, '{"command":"ls","output":"secret output"}');
INSERT INTO session_message VALUES ('n5', 'ses_1', 'system', 4, 1793610009004, 1793610009004, '{"text":"context"}');
INSERT INTO session_message VALUES ('n4', 'ses_1', 'synthetic', 3, 1793610009003, 1793610009003, '{"text":"go on"}');
INSERT INTO session_message VALUES ('n3', 'ses_1', 'model-switched', 2, 1793610009002, 1793610009002, '{"model":{"id":"m"}}');
INSERT INTO session_message VALUES ('n2', 'ses_1', 'agent-switched', 1, 1793610009001, 1793610009001, '{"agent":"plan"}');
INSERT INTO session_message VALUES ('msg_1', 'ses_1', 'user', 0, 1793610009000, 1793610009000, '{"text":"Why is the build red?\n\nLook\n\nat main.","time":{"created":1793610000500}}');
INSERT INTO session_message VALUES ('n15', 'ses_1', 'assistant', 14, 1793610009014, 1793610009014, '{"model":{"id":"m2"},"content":[{"type":"text","text":"Which one?"},{"type":"tool","id":"c","name":"question","state":{"status":"completed","content":[{"type":"text","text":"User has answered your questions: \"Which db?\"=\"SQLite, it is there\". You can now continue with the user''s answers in mind."}]}},{"type":"tool","id":"d","name":"bash","state":{"status":"error","error":{"type":"unknown","message":"The user rejected permission to use this specific tool call with the following feedback: not now"}}}]}');
