use super::super::corpus;
use super::*;

#[test]
fn sessions_are_known_by_their_path() {
    let machine = Machine::new("/h", []);
    let agent = "/h/.config/Kiro/User/globalStorage/kiro.kiroagent";
    let hash = "0123456789abcdef0123456789abcdef";
    let sessions = [
        "/h/.kiro/sessions/a/sess_1/messages.jsonl".to_owned(),
        format!("{agent}/workspace-sessions/L3cvYXRsYXM/7f1a0012-0000-4000-8000-000000000012.json"),
        format!("{agent}/{hash}/{hash}/{hash}"),
        format!("{agent}/{hash}/{hash}.chat"),
    ];
    let others = [
        "/h/.kiro/sessions/a/sess_1/session.json".to_owned(),
        "/h/.kiro/sessions/cli/7f1a0004-0000-4000-8000-000000000004.jsonl".to_owned(),
        format!("{agent}/workspace-sessions/L3cvYXRsYXM/sessions.json"),
        format!("{agent}/profile.json"),
        format!("{agent}/index/{hash}/a"),
        format!("{agent}/{hash}/{hash}"),
    ];
    let paths: Vec<&str> = sessions.iter().chain(&others).map(String::as_str).collect();
    assert_eq!(corpus::transcripts(&KiroIde, &machine, &paths), sessions);
}

/// An execution names no folder: its session does.
#[test]
fn an_execution_is_in_the_folder_of_its_session() {
    let folders: Vec<_> = corpus::files(&KiroIde)
        .iter()
        .filter(|path| path.extension().is_none())
        .map(|path| KiroIde.read(path, None).unwrap().turns[0].cwd.clone())
        .collect();
    assert_eq!(folders, [Some("/w/atlas".to_owned())]);
}
