-- The tables that are read, as opencode 1.18 makes them.
CREATE TABLE session (
  id TEXT PRIMARY KEY, project_id TEXT NOT NULL, workspace_id TEXT, parent_id TEXT, slug TEXT NOT NULL,
  directory TEXT NOT NULL, path TEXT, title TEXT NOT NULL, version TEXT NOT NULL,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL
);
CREATE TABLE message (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL
);
CREATE TABLE part (
  id TEXT PRIMARY KEY, message_id TEXT NOT NULL REFERENCES message(id) ON DELETE CASCADE, session_id TEXT NOT NULL,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL
);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
INSERT INTO session VALUES ('ses_1', 'p', NULL, NULL, 's', '/p', NULL, 'Red build', '1.18', 1793610000000, 1793610000000);
INSERT INTO session VALUES ('ses_2', 'p', NULL, 'ses_1', 's', '/p', NULL, 'Child session - 2026-11-02T09:00:00.000Z', '1.18', 1793610000000, 1793610000000);
INSERT INTO message VALUES ('msg_1', 'ses_1', 1793610000000, 1793610000000, '{"role":"user","time":{"created":1793610000500},"agent":"build","model":{"providerID":"p","modelID":"m"},"summary":{"title":"x","diffs":[]}}');
INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1793610000000, 1793610000000, '{"type":"text","text":"Why is the build red?"}');
INSERT INTO part VALUES ('prt_2', 'msg_1', 'ses_1', 1793610000000, 1793610000000, '{"type":"text","text":"Called the Read tool","synthetic":true}');
INSERT INTO part VALUES ('prt_3', 'msg_1', 'ses_1', 1793610000000, 1793610000000, '{"type":"file","mime":"text/plain","url":"file:///p/a"}');
INSERT INTO part VALUES ('prt_4', 'msg_1', 'ses_1', 1793610000000, 1793610000000, '{"type":"text","text":"<system-reminder>plan</system-reminder>Look\n\nat main."}');
INSERT INTO message VALUES ('msg_2', 'ses_1', 1793610001000, 1793610001000, '{"role":"assistant","parentID":"msg_1","modelID":"m","providerID":"p","mode":"build","time":{"created":1793610001000}}');
INSERT INTO part VALUES ('prt_5', 'msg_2', 'ses_1', 1793610001000, 1793610001000, '{"type":"step-start"}');
INSERT INTO part VALUES ('prt_6', 'msg_2', 'ses_1', 1793610001000, 1793610001000, '{"type":"reasoning","text":"hm","time":{"start":1}}');
INSERT INTO part VALUES ('prt_7', 'msg_2', 'ses_1', 1793610001000, 1793610001000, '{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":"secret output"}}');
INSERT INTO part VALUES ('prt_8', 'msg_2', 'ses_1', 1793610001000, 1793610001000, '{"callID":"c","type":"tool","tool":"bash","state":{"output":"secret output"}}');
INSERT INTO part VALUES ('prt_9', 'msg_2', 'ses_1', 1793610001000, 1793610001000, '{"type":"text","text":"A test fails.","time":{"start":1,"end":2}}');
INSERT INTO part VALUES ('prt_a', 'msg_2', 'ses_1', 1793610001000, 1793610001000, '{"type":"text","text":"note of a plugin","ignored":true}');
INSERT INTO part VALUES ('prt_b', 'msg_2', 'ses_1', 1793610001000, 1793610001000, '{"type":"step-finish","reason":"stop"}');
INSERT INTO part VALUES ('prt_c', 'msg_2', 'ses_1', 1793610001000, 1793610001000, '{"type":"hologram"}');
INSERT INTO message VALUES ('msg_3', 'ses_1', 1793610002000, 1793610002000, '{"role":"user","time":{"created":1793610002000}}');
INSERT INTO part VALUES ('prt_d', 'msg_3', 'ses_1', 1793610002000, 1793610002000, '{"type":"compaction","auto":true}');
INSERT INTO message VALUES ('msg_4', 'ses_1', 1793610003000, 1793610003000, '{"role":"assistant","summary":true,"mode":"compaction","modelID":"m","time":{"created":1793610003000}}');
INSERT INTO part VALUES ('prt_e', 'msg_4', 'ses_1', 1793610003000, 1793610003000, '{"type":"text","text":"The build was red for a test."}');
INSERT INTO message VALUES ('msg_5', 'ses_2', 1793610004000, 1793610004000, '{"role":"user","time":{"created":"soon"}}');
INSERT INTO part VALUES ('prt_f', 'msg_5', 'ses_1', 1793610004000, 1793610004000, '{"type":"text","text":"Find the test."}');
INSERT INTO message VALUES ('msg_6', 'ses_1', 1793610005000, 1793610005000, X'ff');
INSERT INTO part VALUES ('prt_g', 'msg_6', 'ses_1', 1793610005000, 1793610005000, '{"type":"text","text":"lost"}');
INSERT INTO message VALUES ('msg_7', 'ses_1', 1793610006000, 1793610006000, '{"role":"narrator"}');
INSERT INTO message VALUES ('msg_8', 'ses_gone', 1793610007000, 1793610007000, '{"role":"user","time":null}');
INSERT INTO part VALUES ('prt_h', 'msg_8', 'ses_1', 1793610007000, 1793610007000, '{"type":"text","text":"half a \ud83d"}');
INSERT INTO part VALUES ('prt_i', 'msg_8', 'ses_1', 1793610007000, 1793610007000, 7);
INSERT INTO part VALUES ('prt_j', 'msg_8', 'ses_1', 1793610007000, 1793610007000, '{"type":"text","text":8}');
INSERT INTO part VALUES ('prt_k', 'msg_8', 'ses_1', 1793610007000, 1793610007000, X'7b2274797065223a2274657874222c2274657874223a2266726f6d206120626c6f62227d');
INSERT INTO message VALUES ('msg_9', 'ses_1', 1793610008000, 1793610008000, '{"role":"assistant","modelID":"m","time":{"created":1793610008000}}');
INSERT INTO part VALUES ('prt_l', 'msg_9', 'ses_1', 1793610008000, 1793610008000, '{"type":"tool","callID":"c","tool":"question","state":{"status":"completed","input":{"questions":[{"question":"Which db?"}]},"output":"User has answered your questions: \"Which db?\"=\"SQLite, it is there\". You can now continue with the user''s answers in mind."}}');
INSERT INTO part VALUES ('prt_m', 'msg_9', 'ses_1', 1793610008000, 1793610008000, '{"type":"tool","callID":"c","tool":"bash","state":{"status":"error","input":{},"error":"The user rejected permission to use this specific tool call with the following feedback: use the other crate"}}');
INSERT INTO message VALUES ('msg_a', 'ses_1', 1793610008000, 1793610008000, '{"role":"assistant","modelID":"m","time":{"created":1793610008001}}');
INSERT INTO part VALUES ('prt_n', 'msg_a', 'ses_1', 1793610008000, 1793610008000, '{"type":"text","text":"I look."}');
INSERT INTO part VALUES ('prt_o', 'msg_a', 'ses_1', 1793610008000, 1793610008000, '{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":"a log: The user rejected permission to use this specific tool call with the following feedback: secret output"}}');
INSERT INTO part VALUES ('prt_p', 'msg_a', 'ses_1', 1793610008000, 1793610008000, '{"type":"tool","callID":"c","tool":"grep","state":{"status":"completed","input":{},"output":"User has answered your questions: \"Which db?\"=\"SQLite, it is there\". You can now continue with the user''s answers in mind."}}');
INSERT INTO part VALUES ('prt_q', 'msg_a', 'ses_1', 1793610008000, 1793610008000, '{"type":"tool","callID":"c","tool":"question","state":{"status":"error","input":{},"error":"The user dismissed this question"}}');
