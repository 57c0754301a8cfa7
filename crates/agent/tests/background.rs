//! What an agent has left running when its turn ended is known by what its own program tells of it: the
//! records are those that the real programs wrote.

use glis_agent::{Dialect, Source};
use glis_core::input::Sign;
use glis_core::spec::Mode;
use serde_json::{Value, json};

#[expect(clippy::expect_used, reason = "the tests name an agent of the table")]
fn codex(mode: Mode) -> Box<dyn Dialect> {
    glis_agent::find("codex").expect("an agent of the table").dialect(mode)
}

/// How many commands run beside the turn, whenever that changes, and where a turn ends.
fn told(dialect: &mut dyn Dialect, at: u64, lines: &[Value]) -> Vec<String> {
    let bytes: Vec<u8> = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
    let heard = match dialect.source() {
        Source::Stream => dialect.hear(at, &bytes),
        Source::Transcript | Source::Screen => dialect.read(at, &bytes),
    };
    let word = |sign: Sign| {
        if let Sign::Background(running) = sign {
            return Some(format!("{running} running"));
        }
        sign.ends_turn().then(|| "ended".to_owned())
    };
    heard.into_iter().filter_map(|heard| word(heard.sign?)).collect()
}

fn notice(method: &str, item: &Value) -> Value {
    json!({"method": method, "params": {"item": item}})
}

fn command(id: &str, status: &str) -> Value {
    json!({"type": "commandExecution", "id": id, "processId": "77310", "status": status,
        "command": "/bin/bash -lc 'sleep 500'", "source": "unifiedExecStartup"})
}

fn turn(status: &str) -> Value {
    json!({"method": "turn/completed", "params": {"turn": {"status": status, "error": null}}})
}

#[test]
fn a_command_that_codex_leaves_running_on_pipes_counts_until_it_ends() {
    let mut dialect = codex(Mode::Headless);
    let began = |id| notice("item/started", &command(id, "inProgress"));
    let ended = |id, status| notice("item/completed", &command(id, status));
    let lines = [
        began("a"),
        ended("a", "completed"),
        began("b"),
        turn("completed"),
        began("c"),
        // What was cut off is nobody's work any more.
        turn("interrupted"),
        ended("c", "completed"),
        ended("b", "failed"),
    ];
    let expected = ["1 running", "ended", "ended", "0 running"];
    assert_eq!(told(dialect.as_mut(), 0, &lines), expected);
}

fn call(id: &str, name: &str) -> Value {
    json!({"type": "response_item", "payload": {"type": "function_call", "name": name,
        "arguments": "{\"cmd\":\"sleep 500\",\"yield_time_ms\":300}", "call_id": id}})
}

fn output(id: &str, output: &str) -> Value {
    json!({"type": "response_item",
        "payload": {"type": "function_call_output", "call_id": id, "output": output}})
}

fn event(kind: &str) -> Value {
    json!({"type": "event_msg", "payload": {"type": kind}})
}

fn command_ended(id: &str) -> Value {
    json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {
        "type": "CommandExecution", "id": id, "process_id": "77310", "status": "failed",
        "command": ["/bin/bash", "-lc", "sleep 500"], "exit_code": 143}}})
}

const RUNS_ON: &str = "Chunk ID: ffc6bd\nWall time: 0.3018 seconds\nProcess running with session ID \
     77310\nOriginal token count: 0\nOutput:\n";

#[test]
fn a_command_that_codex_leaves_running_in_its_terminal_counts_until_it_ends() {
    let mut dialect = codex(Mode::Terminal);
    let printed = "Process exited with code 0\nOutput:\nProcess running with session ID 5\n";
    let lines = [
        event("task_started"),
        call("a", "exec_command"),
        output("a", RUNS_ON),
        // A look at it is no other one, and what a command prints says nothing about it.
        call("b", "write_stdin"),
        output("b", RUNS_ON),
        call("c", "exec_command"),
        command_ended("c"),
        output("c", printed),
        event("task_complete"),
        command_ended("a"),
    ];
    assert_eq!(told(dialect.as_mut(), 0, &lines), ["1 running", "ended", "0 running"]);
}

#[test]
fn what_a_former_process_of_codex_left_running_has_ended_with_it() {
    let mut dialect = codex(Mode::Terminal);
    let former = [call("a", "exec_command"), output("a", RUNS_ON), event("task_complete")];
    let began: u64 = former.iter().map(|line| line.to_string().len() as u64 + 1).sum();
    dialect.begin_at(began);
    assert_eq!(told(dialect.as_mut(), 0, &former), ["ended"]);
    let later = [call("b", "exec_command"), output("b", RUNS_ON), command_ended("b")];
    assert_eq!(told(dialect.as_mut(), began, &later), ["1 running", "0 running"]);
}
