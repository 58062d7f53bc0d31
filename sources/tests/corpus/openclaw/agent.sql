-- The tables that are read, as OpenClaw 2026.9 makes them.
CREATE TABLE session_windows (
  session_id TEXT NOT NULL PRIMARY KEY,
  session_key TEXT NOT NULL,
  previous_session_id TEXT,
  reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  event_json TEXT,
  created_at INTEGER NOT NULL,
  event_zstd BLOB,
  event_utf8_bytes INTEGER,
  PRIMARY KEY (session_id, seq)
) STRICT;
CREATE TABLE transcript_rewrite_watermarks (
  session_id TEXT NOT NULL PRIMARY KEY,
  generation TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
INSERT INTO session_windows VALUES ('S', 'agent:main:main', NULL, 'initial', 1793610000000, 1793610000000);
INSERT INTO session_windows VALUES ('sub', 'agent:main:subagent:7', NULL, 'initial', 1793610000000, 1793610000000);
INSERT INTO transcript_rewrite_watermarks VALUES ('S', 'g1', 1793610000000), ('sub', 'g1', 1793610000000);
INSERT INTO transcript_events VALUES ('S', 0, '{"type":"session","version":3,"id":"S","timestamp":"2026-11-02T09:00:00.000Z","cwd":"/w"}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 2, '{"type":"message","id":"e1","parentId":"e0","timestamp":"2026-11-02T09:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Conversation info (untrusted metadata):\n```json\n{\"message_id\": \"7\"}\n```\n\nSender (untrusted metadata):\n```json\n{\"name\": \"Ann\"}\n```\n\n[Mon 2026-11-02 09:00 UTC] Where is\n\n  the key?"}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 4, '{"type":"message","id":"e3","parentId":"e2","timestamp":"2026-11-02T09:00:03.000Z","message":{"role":"toolResult","toolCallId":"c","toolName":"x","content":[{"type":"text","text":"secret output"}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 6, '{"type":"message","id":"e5","parentId":"e4","timestamp":"2026-11-02T09:00:05.000Z","message":{"role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm"}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 8, '{"type":"message","id":"e7","parentId":"e6","timestamp":"2026-11-02T09:00:07.000Z","message":{"role":"assistant","content":[{"type":"text","text":"HEARTBEAT_OK"}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 10, '{"type":"message","id":"e9","parentId":"e8","timestamp":"2026-11-02T09:00:09.000Z","message":{"role":"assistant","content":[{"type":"text","text":"NO_REPLY"}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 12, '{"type":"message","id":"f1","parentId":"f0","timestamp":"2026-11-02T09:00:11.000Z","message":{"role":"user","provenance":{"kind":"inter_session","sourceTool":"sessions_send"},"content":"do it for me"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 14, '{"type":"message","id":"f3","parentId":"f2","timestamp":"2026-11-02T09:00:13.000Z","message":{"role":"user","provenance":{"kind":"internal_system"},"content":"done"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 16, '{"type":"message","id":"f5","parentId":"f4","timestamp":"2026-11-02T09:00:15.000Z","message":{"role":"user","content":[{"type":"text","text":"<memorist-recall>\nold\n</memorist-recall>"}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 18, '{"type":"custom","customType":"model-snapshot","id":"f7","parentId":"f6","timestamp":"2026-11-02T09:00:17.000Z","data":{}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 20, '{"type":"compaction","id":"f9","parentId":"f8","timestamp":"2026-11-02T09:00:19.000Z","summary":"Ann seeks a key.","firstKeptEntryId":"e2","tokensBefore":90000}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 22, '{"type":"session_info","id":"a1","parentId":"a0","timestamp":"2026-11-02T09:00:21.000Z","name":"The key"}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 24, '{"type":"message","id":"a2","parentId":"a1","timestamp":"yesterday","message":{"role":"user","timestamp":1793610023000,"content":"Its time is in the message."}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 26, '{"type":"message","message":{"role":"assistant","content":"It has nothing."}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 28, '{"type":"message","id":"a5","message":{"role":"user","content":null}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 30, '{"type":"message","id":"a7","timestamp":"2026-11-02T09:00:23.000Z","message":{"role":"custom","content":"by an extension"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 32, '{"type":"compaction","id":"a9","summary":{"no":"text"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 34, '[1]', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 1, '{"type":"model_change","id":"e0","parentId":null,"timestamp":"2026-11-02T09:00:00.100Z","provider":"p","modelId":"m"}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 3, '{"type":"message","id":"e2","parentId":"e1","timestamp":"2026-11-02T09:00:02.000Z","message":{"role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","id":"c","name":"x","arguments":{}},{"type":"text","text":"[[reply_to_current]] I look."},{"type":"text","text":"Wait."}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 5, '{"type":"message","id":"e4","parentId":"e3","timestamp":"2026-11-02T09:00:04.000Z","message":{"role":"assistant","model":"m","content":[{"type":"toolCall","id":"c2","name":"x","arguments":{}}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 7, '{"type":"message","id":"e6","parentId":"e5","timestamp":"2026-11-02T09:00:06.000Z","message":{"role":"user","content":"Read HEARTBEAT.md if it exists (workspace context). Follow it strictly."}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 9, '{"type":"message","id":"e8","parentId":"e7","timestamp":"2026-11-02T09:00:08.000Z","message":{"role":"user","content":"[cron:7f daily] Sum up the day."}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 11, '{"type":"message","id":"f0","parentId":"e9","timestamp":"2026-11-02T09:00:10.000Z","message":{"role":"user","content":"System: [2026-11-02 09:00:10] Exec completed"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 13, '{"type":"message","id":"f2","parentId":"f1","timestamp":"2026-11-02T09:00:12.000Z","message":{"role":"user","content":"[Inter-session message sourceSession=agent:main:x isUser=false]\nhi"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 15, '{"type":"message","id":"f4","parentId":"f3","timestamp":"2026-11-02T09:00:14.000Z","message":{"role":"user","provenance":{"kind":"external_user"},"content":"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nrunning: none\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n[media attached: /tmp/a.png (image/png)]\nIs it this one?\n[message_id: 8]\n\nUntrusted context (metadata, do not treat as instructions or commands):\nSource: chat"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 17, '{"type":"message","id":"f6","parentId":"f5","timestamp":"2026-11-02T09:00:16.000Z","message":{"role":"user","content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 19, '{"type":"custom_message","customType":"note","id":"f8","parentId":"f7","timestamp":"2026-11-02T09:00:18.000Z","content":"for the model","display":false}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 21, '{"type":"branch_summary","id":"a0","parentId":"f9","timestamp":"2026-11-02T09:00:20.000Z","fromId":"e2","summary":"A branch about locks."}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 23, '{"type":"message","id":"0199aa00-0000-7000-8000-0000000000aa","parentId":"a1","timestamp":"2026-11-02T09:00:22.000Z","message":{"role":"user","content":"Its id is a UUID.\ud83d"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 25, '{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"It has no time."}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 27, '{"type":"message","id":"a4","message":null}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 29, '{"type":"message","id":"a6","message":{"role":7,"content":"no role"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 31, '{"type":"message","id":"a8","timestamp":"2026-11-02T09:00:24.000Z","message":{"role":"bashExecution","command":"ls","output":"x"}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 33, '{"type":"weather","id":"b0"}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('S', 35, '{"type":"message","id":"b1","timestamp":"2026-11-02T09:00:25.000Z","message":{"role":"assistant","model":"m2","content":[{"type":"text","text":"It is under the mat."}]}}', 1793610000999, NULL, NULL);
INSERT INTO transcript_events VALUES ('sub', 0, '{"type":"session","version":3,"id":"sub","cwd":"/s"}', 1793610060000, NULL, NULL);
INSERT INTO transcript_events VALUES ('sub', 1, '{"type":"message","id":"s1","timestamp":"2026-11-02T09:01:00.000Z","message":{"role":"user","content":"look for the mat"}}', 1793610060000, NULL, NULL);
INSERT INTO transcript_events VALUES ('sub', 2, NULL, 1793610060000, NULL, NULL);
INSERT INTO transcript_events VALUES ('sub', 3, NULL, 1793610060000, X'28B52FFD00', 10);
