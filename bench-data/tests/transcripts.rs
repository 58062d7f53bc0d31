//! Sessions and their transcripts: the same bytes for a seed, facts in their turns, and the turns that documented rules read.

use std::collections::HashSet;

use bench_data::transcripts::{Agent, Database};
use bench_data::{LEFT_OUT, Session, session, sessions};
use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest, Sha256};

fn checksum(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn transcript(agent: Agent, session: &Session) -> String {
    let mut bytes = Vec::new();
    agent.write(session, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn sql(database: Database, sessions: &[Session]) -> String {
    let mut bytes = database.schema().as_bytes().to_vec();
    sessions.iter().for_each(|session| database.write(session, &mut bytes).unwrap());
    String::from_utf8(bytes).unwrap()
}

/// The messages, with a letter for who wrote them.
fn said(session: &Session) -> Vec<String> {
    session.turns.iter().map(|turn| format!("{} {}", if turn.is_user { 'u' } else { 'a' }, turn.text)).collect()
}

#[test]
fn a_seed_always_gives_the_same_bytes() {
    let all: Vec<_> = sessions(42, 3, 120).collect();
    let agents = Agent::ALL.map(|agent| all.iter().map(|session| transcript(agent, session)).collect::<String>());
    let databases = Database::ALL.map(|database| sql(database, &all));
    let texts = agents.iter().chain(&databases);
    let sums: Vec<_> = texts.clone().map(|text| checksum(text)).collect();
    assert_eq!(
        checksum(&sums.join(" ")),
        "b2ea533e7ac42cb6589fa93c82f1df218a8f161be918357670f6d6d5e68d7562",
        "{sums:#?}"
    );
    assert_eq!(sums.iter().collect::<HashSet<_>>().len(), sums.len());
    assert_ne!(session(43, 0, 120), all[0]);
}

#[test]
fn a_session_is_the_beginning_of_a_longer_one_but_for_its_fact() {
    let (short, long) = (session(7, 5, 40), session(7, 5, 200));
    assert_eq!(short, sessions(7, 6, 40).last().unwrap());
    assert_eq!((&short.id, &short.cwd, short.started), (&long.id, &long.cwd, long.started));
    let with_fact = [short.fact.as_ref().unwrap().turn, long.fact.as_ref().unwrap().turn];
    for (place, (one, other)) in short.turns.iter().zip(&long.turns).enumerate() {
        let same_text = one.text == other.text;
        assert!(same_text != with_fact.contains(&place) && one.tools == other.tools && one.at == other.at, "{place}");
    }
    assert_eq!(session(7, 5, 0).fact, None);
}

#[test]
fn sessions_are_of_believable_sizes() {
    let (mut typed, mut answered, mut printed, mut calls, mut longest) = (0, 0, 0, 0, 0);
    for session in sessions(42, 50, 200) {
        assert_eq!(session.turns.len(), 200);
        let times: Vec<_> = session.turns.iter().map(|turn| turn.at).collect();
        assert!(session.started < times[0] && times.is_sorted(), "{}", session.id);
        for turn in &session.turns {
            *(if turn.is_user { &mut typed } else { &mut answered }) += turn.text.len();
            printed += turn.tools.iter().map(|tool| tool.output.len()).sum::<usize>();
            longest = turn.tools.iter().map(|tool| tool.output.len()).max().unwrap_or(0).max(longest);
            calls += turn.tools.len();
        }
    }
    assert!((100..300).contains(&(typed / 5_000)), "{} bytes are typed", typed / 5_000);
    assert!((400..1_200).contains(&(answered / 5_000)), "{} bytes are answered", answered / 5_000);
    assert!((1_500..5_000).contains(&(printed / calls)), "{} bytes are printed", printed / calls);
    assert!(longest > 10_000 && calls > 5_000, "{longest}, {calls} calls");
}

#[test]
fn each_session_has_one_fact_in_one_turn() {
    let all: Vec<_> = sessions(42, 120, 30).collect();
    let mut places = HashSet::new();
    for session in &all {
        let fact = session.fact.as_ref().unwrap();
        let turn = &session.turns[fact.turn];
        assert_eq!((&fact.session, fact.is_user), (&session.id, turn.is_user));
        assert!(turn.text.contains(&fact.answer) && fact.answer.contains(&fact.mark), "{fact:?}");
        assert!(fact.question.contains(&fact.mark), "{fact:?}");
        let times: usize = all.iter().flat_map(said).map(|text| text.matches(&fact.mark).count()).sum();
        assert_eq!(times, 1, "{fact:?}");
        places.insert(fact.turn);
    }
    assert!(places.len() > 20, "facts are in {} different places", places.len());
    let ids: HashSet<_> = all.iter().flat_map(|session| (0..999).map(|number| session.record_id(number))).collect();
    assert_eq!(ids.len(), all.len() * 999);
}

#[test]
fn paths_are_distinct_and_those_of_the_agents() {
    let all: Vec<_> = sessions(42, 200, 0).collect();
    for agent in Agent::ALL {
        let paths: HashSet<_> = all.iter().map(|session| agent.path(session)).collect();
        assert_eq!(paths.len(), all.len(), "{agent:?}");
    }
    let mut session = all.into_iter().next().unwrap();
    session.id = "0123abcd-0000-4000-8000-000000000000".into();
    session.cwd = "/home/ada/code/nova-ledger".into();
    session.started = 1_762_074_061_000;
    let paths = Agent::ALL.map(|agent| agent.path(&session));
    assert_eq!(
        paths,
        [
            ".claude/projects/-home-ada-code-nova-ledger/0123abcd-0000-4000-8000-000000000000.jsonl",
            ".codex/sessions/2025/11/02/rollout-2025-11-02T09-01-01-0123abcd-0000-4000-8000-000000000000.jsonl",
            ".gemini/tmp/nova-ledger/chats/session-2025-11-02T09-01-0123abcd.jsonl",
            ".openclaw/agents/main/sessions/0123abcd-0000-4000-8000-000000000000.jsonl",
            ".cursor/projects/home-ada-code-nova-ledger/agent-transcripts/0123abcd-0000-4000-8000-000000000000/\
         0123abcd-0000-4000-8000-000000000000.jsonl",
            ".gimli/sessions/0123abcd-0000-4000-8000-000000000000.jsonl",
        ]
    );
}

/// The texts of a message's blocks of this kind.
fn blocks(content: &Value, kind: &str) -> Option<String> {
    let blocks: Vec<_> = match content {
        Value::String(text) => return Some(text.clone()),
        _ => content.as_array()?.iter().filter(|block| block["type"] == kind).map(|block| &block["text"]).collect(),
    };
    let texts: Vec<_> = blocks.iter().map(|text| text.as_str().unwrap()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn role_and(role: &Value, text: String) -> Option<String> {
    let letter = match role.as_str()? {
        "user" => 'u',
        "assistant" | "gemini" => 'a',
        _ => return None,
    };
    Some(format!("{letter} {text}"))
}

/// The message of a record by the documented rules of its agent, as `said` writes it.
fn rule(agent: Agent, record: &Value) -> Option<String> {
    let message = &record["message"];
    match agent {
        Agent::ClaudeCode if record["type"] == "attachment" => {
            role_and(&"user".into(), record["attachment"]["prompt"].as_str()?.to_owned())
        }
        Agent::ClaudeCode => {
            if record["isMeta"] == true || record["isCompactSummary"] == true {
                return None;
            }
            let text = blocks(&message["content"], "text")?;
            let text = text.split("<system-reminder>").next()?.trim();
            let is_typed = !text.is_empty() && !text.starts_with("<bash-");
            is_typed.then(|| role_and(&record["type"], text.to_owned()))?
        }
        Agent::Codex => {
            let payload = &record["payload"];
            if record["type"] != "response_item" || payload["type"] != "message" {
                return None;
            }
            let kind = if payload["role"] == "user" { "input_text" } else { "output_text" };
            let text = blocks(&payload["content"], kind)?;
            let text = text.rsplit("## My request for Codex:\n").next()?;
            let is_typed = !text.starts_with("# AGENTS.md") && !text.starts_with("<environment_context>");
            is_typed.then(|| role_and(&payload["role"], text.to_owned()))?
        }
        Agent::Gemini => {
            let content = &record["content"];
            let text = content.as_str().or_else(|| content[0]["text"].as_str())?;
            (!text.starts_with("<session_context>")).then(|| role_and(&record["type"], text.to_owned()))?
        }
        Agent::OpenClaw => role_and(&message["role"], blocks(&message["content"], "text")?),
        Agent::CursorCli => {
            let text = blocks(&message["content"], "text")?;
            let query = text.split("<user_query>\n").last()?;
            role_and(&record["role"], query.strip_suffix("\n</user_query>").unwrap_or(query).to_owned())
        }
        Agent::Gimli => role_and(&message["role"], blocks(&message["content"], "text")?),
    }
}

/// The messages of all records; in a log of edits, later ones replace earlier ones.
fn read(agent: Agent, text: &str) -> Vec<String> {
    let mut all: Vec<(Value, String)> = Vec::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if let Some(to) = record.get("$rewindTo") {
            let at = all.iter().position(|(id, _)| id == to).unwrap();
            all.truncate(at);
        }
        let Some(said) = rule(agent, &record) else { continue };
        match all.iter_mut().find(|(id, _)| agent == Agent::Gemini && *id == record["id"]) {
            Some((_, earlier)) => *earlier = said,
            None => all.push((record["id"].clone(), said)),
        }
    }
    all.into_iter().map(|(_, said)| said).collect()
}

#[test]
fn the_documented_rules_read_the_turns_of_every_transcript() {
    for agent in Agent::ALL {
        for session in sessions(42, 4, 130) {
            let text = transcript(agent, &session);
            assert!(text.ends_with('\n') && text.matches(LEFT_OUT).count() > 60, "{agent:?}");
            assert_eq!(read(agent, &text), said(&session), "{agent:?}");
        }
    }
}

#[test]
fn transcripts_know_session_folder_branch_model_and_time() {
    let session = session(42, 2, 130);
    let time = jiff::Timestamp::from_millisecond(session.turns[99].at).unwrap().strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
    let (time, session_id) = (time.to_string(), session.id.as_str());
    let known = |agent| match agent {
        Agent::ClaudeCode => vec![&time, session_id, &session.cwd, &session.branch, session.model, &session.title],
        Agent::Codex => vec![&time, session_id, &session.cwd, &session.branch, session.model],
        Agent::Gemini => vec![&time, session_id, &session.cwd, session.model, &session.title],
        Agent::OpenClaw => vec![&time, session_id, &session.cwd, session.model],
        Agent::CursorCli => vec![],
        Agent::Gimli => vec![&time, session_id, &session.cwd],
    };
    for agent in Agent::ALL {
        let text = transcript(agent, &session);
        known(agent).into_iter().for_each(|part| assert!(text.contains(part), "{part} in {agent:?}"));
        let has_summary = text.contains("up to here the build was repaired") || text.contains("Up to here the build");
        assert_eq!(has_summary, matches!(agent, Agent::ClaudeCode | Agent::Codex | Agent::OpenClaw), "{agent:?}");
    }
}

#[test]
fn sqlite_accepts_the_sql_and_queries_give_the_turns() {
    let all: Vec<_> = sessions(42, 3, 130).collect();
    for database in Database::ALL {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&sql(database, &all)).unwrap();
        for session in &all {
            let query = match database {
                Database::OpenCode => {
                    "SELECT message.data ->> 'role', part.data ->> 'text' FROM message JOIN part ON \
                     part.message_id = message.id WHERE message.session_id = 'ses_' || ?1 AND part.data ->> 'type' = \
                     'text' AND part.data ->> 'synthetic' IS NULL ORDER BY message.id, part.id"
                }
                Database::Goose => {
                    "SELECT role, value ->> 'text' FROM messages, json_each(content_json) WHERE session_id = ?1 AND \
                     value ->> 'type' = 'text' ORDER BY messages.id, key"
                }
                Database::CursorIde => {
                    "SELECT iif(bubble.value ->> 'type' = 1, 'user', 'assistant'), bubble.value ->> 'text' FROM \
                     cursorDiskKV AS composer, json_each(composer.value, '$.fullConversationHeadersOnly') AS header JOIN \
                     cursorDiskKV AS bubble ON bubble.key = 'bubbleId:' || ?1 || ':' || (header.value ->> 'bubbleId') \
                     WHERE composer.key = 'composerData:' || ?1 AND bubble.value ->> 'text' <> '' ORDER BY header.key"
                }
                Database::OpenClaw => {
                    "SELECT event_json ->> '$.message.role', value ->> 'text' FROM transcript_events, \
                     json_each(event_json, '$.message.content') WHERE session_id = ?1 AND value ->> 'type' = 'text' AND \
                     event_json ->> '$.message.role' <> 'toolResult' ORDER BY seq, key"
                }
            };
            let mut statement = connection.prepare(query).unwrap();
            let rows = statement.query_map([&session.id], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).unwrap();
            let rows = rows.map(|row| row.map(|(role, text)| role_and(&role.into(), text).unwrap()).unwrap());
            assert_eq!(rows.collect::<Vec<_>>(), said(session), "{database:?}");
        }
    }
}
