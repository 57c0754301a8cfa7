//! A tool that came to no good end is told as such by every agent that tells it at all.

use glis_agent::{Heard, Outcome, Source, find};
use glis_core::spec::Mode;
use serde_json::{Value, json};

/// What is heard of a failed tool in these lines: its name and what it was given.
fn failed(agent: &str, mode: Mode, lines: &[Value]) -> Vec<(String, String)> {
    let Some(agent) = find(agent) else { return Vec::new() };
    let mut dialect = agent.dialect(mode);
    let bytes: Vec<u8> = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
    let heard: Vec<Heard> = match dialect.source() {
        Source::Stream => dialect.hear(0, &bytes),
        Source::Transcript | Source::Screen => dialect.read(0, &bytes),
    };
    let said = heard.into_iter().filter_map(|heard| heard.said);
    let failed = said.filter(|said| said.outcome == Some(Outcome::Failed));
    failed.map(|said| (said.tool.unwrap_or_default(), said.content)).collect()
}

fn pair(tool: &str, content: &str) -> Vec<(String, String)> {
    vec![(tool.to_owned(), content.to_owned())]
}

#[test]
fn of_codex_without_a_terminal() {
    let item = |method: &str, status: &str| {
        let item =
            json!({"id": "i", "type": "commandExecution", "command": "make", "status": status});
        json!({"method": method, "params": {"item": item}})
    };
    let begun = item("item/started", "inProgress");
    let end = |status| item("item/completed", status);
    assert_eq!(
        failed("codex", Mode::Headless, &[begun.clone(), end("failed")]),
        pair("run", "make")
    );
    assert!(failed("codex", Mode::Headless, &[begun, end("completed")]).is_empty());
}

#[test]
fn of_codex_in_a_terminal() {
    let call = json!({"type": "response_item", "payload": {"type": "function_call", "call_id": "c",
        "name": "exec_command", "arguments": "{\"cmd\":\"make\"}"}});
    let item = |status: &str| {
        json!({"type": "event_msg", "payload": {"type": "item_completed", "item":
            {"type": "CommandExecution", "id": "c", "status": status, "exit_code": 2}}})
    };
    let back = json!({"type": "response_item", "payload": {"type": "function_call_output",
        "call_id": "c", "output": "Process exited with code 2"}});
    let told =
        |status| failed("codex", Mode::Terminal, &[call.clone(), item(status), back.clone()]);
    assert_eq!(told("failed").len(), 1);
    assert_eq!(told("failed")[0].0, "exec_command");
    assert!(told("completed").is_empty());
}

#[test]
fn of_opencode() {
    let update = |status: &str| {
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": status,
            "title": "bash", "rawInput": {"command": "make"}});
        let params = json!({"sessionId": "s", "update": update});
        json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
    };
    let born = json!({"jsonrpc": "2.0", "id": "glis-conversation", "result": {"sessionId": "s"}});
    let lines = |end| [born.clone(), update("in_progress"), update(end)];
    let told = |end| failed("opencode", Mode::Headless, &lines(end));
    assert_eq!(told("failed").len(), 1, "{:?}", told("failed"));
    assert!(told("completed").is_empty());
}

#[test]
fn of_gemini() {
    let begun = json!({"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "t",
        "parameters": {"command": "make"}});
    let end = |status: &str| json!({"type": "tool_result", "tool_id": "t", "status": status});
    let told = |status| failed("gemini", Mode::Headless, &[begun.clone(), end(status)]);
    assert_eq!(told("error").len(), 1);
    assert_eq!(told("error")[0].0, "run_shell_command");
    assert!(told("success").is_empty());
}

#[test]
fn of_the_rehearsal_agent() {
    let begun = json!({"type": "tool_started", "id": "t", "tool": "run", "input": "make"});
    let end = |ok: bool| json!({"type": "tool_ended", "id": "t", "output": "", "ok": ok});
    for mode in [Mode::Headless, Mode::Terminal] {
        assert_eq!(failed("rehearsal", mode, &[begun.clone(), end(false)]), pair("run", "make"));
        assert!(failed("rehearsal", mode, &[begun.clone(), end(true)]).is_empty());
    }
}
