//! `docs/transitions.md`, printed from the tables: every state and what it does with every command.

use crate::script::{Kind, Stage};
use crate::state::State;
use crate::{chores, kept, loops, table, under_way, usage_limits};
use glis_core::Command;

/// Every command in each form that matters, as a table writes it. What each leads to is told for
/// every state.
const COMMANDS: [&str; 21] = [
    "send hello",
    "pause",
    "pause interrupt",
    "pause force",
    "cancel",
    "resume",
    "resume go on",
    "restart",
    "stop",
    "timeout 20",
    "rm",
    "rm and stop",
    "answer allow",
    "auto-yes on",
    "set 5",
    "snapshot",
    "compact",
    "restore",
    "return",
    "empty",
    "acknowledge",
];

/// The parts of the page: a heading and its states.
const PARTS: [(&str, &[State]); 6] = [
    ("Nothing is under way", table::STATES),
    ("A process is started, paused or stopped", under_way::STATES),
    ("Its pause keeps the process", kept::STATES),
    ("It is parked at a usage limit", usage_limits::STATES),
    ("It is a loop", loops::STATES),
    ("Something is done with what the session holds", chores::STATES),
];

const INTRODUCTION: &str = "\
# Transitions

What a session does with each command, in each state it can be in. Printed from the tables in
`crates/core/tests/transitions`, which the core is tested with; a test compares this page with them
(`GLIS_BLESS=1 cargo test -p glis-core --test transitions` prints it anew).

*Events* are appended to the log, in this order, before an *effect* is carried out. *Answer* is what
the command gets: **pending**, its answer comes when the operation has ended; **already**, there is
nothing to do; **refused** or **busy**, with the reason, and nothing has changed.
";

const BLESS: &str = "GLIS_BLESS";

#[test]
fn the_page_says_what_the_tables_say() {
    let page = page();
    if asked_to_bless() {
        write(&page).unwrap();
    }
    let hint = format!("docs/transitions.md is not what the tables say; {BLESS}=1 prints it anew");
    assert!(stored() == page, "{hint}");
}

#[test]
fn every_state_has_a_line_for_every_command() {
    let states = PARTS.iter().flat_map(|(_, states)| states.iter());
    let missing: Vec<_> = states.flat_map(missing_in).collect();
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
}

#[test]
fn every_command_is_among_those_that_a_state_is_asked() {
    let mut verbs: Vec<_> = COMMANDS.iter().filter_map(|line| verb(&command(line)?)).collect();
    verbs.dedup();
    assert_eq!(verbs.len(), VERBS, "a command is missing in COMMANDS, or one is none");
}

/// How many commands a session can be given.
const VERBS: usize = 17;

/// A command by its name; none for the one that begins a session and so meets no state. A new
/// command stops the compiler here: it wants a line in [`COMMANDS`], and one more of [`VERBS`].
fn verb(command: &Command) -> Option<&'static str> {
    Some(match command {
        Command::New { .. } => return None,
        Command::Send { .. } => "send",
        Command::Pause { .. } => "pause",
        Command::CancelPause { .. } => "cancel",
        Command::Resume { .. } => "resume",
        Command::Restart { .. } => "restart",
        Command::Stop { .. } => "stop",
        Command::LimitIdle { .. } => "timeout",
        Command::Remove { .. } => "rm",
        Command::Snapshot { .. } => "snapshot",
        Command::Compact { .. } => "compact",
        Command::Restore { .. } => "restore",
        Command::Return { .. } => "return",
        Command::Empty { .. } => "empty",
        Command::Acknowledge { .. } => "acknowledge",
        Command::Answer { .. } => "answer",
        Command::SetAutoYes { .. } => "auto-yes",
        Command::SetLoop { .. } => "set",
        Command::BeginTyping { .. } => "typing",
        Command::Triage { .. } => "triage",
        Command::SetBudget { .. } => "budget",
    })
}

fn command(line: &str) -> Option<Command> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    Stage::new(Kind::Agent).command(verb, rest)
}

/// The lines that a state lacks, with what the core does there: right or wrong, that is for a
/// person to say.
fn missing_in(state: &State) -> Vec<String> {
    let has = |wanted: &str| state.lines().any(|(command, _)| command == wanted);
    let told = |command| state.play(command).unwrap_or_else(|fault| fault);
    let missing = COMMANDS.iter().filter(|command| !has(command));
    missing.map(|command| format!("{}: {command} => {}", state.name, told(command))).collect()
}

fn page() -> String {
    let part = |(heading, states): (&str, &[State])| {
        let sections: String = states.iter().map(section).collect();
        format!("\n## {heading}\n{sections}")
    };
    let parts: String = PARTS.into_iter().map(part).collect();
    format!("{INTRODUCTION}{parts}")
}

/// A table of one state. Commands that lead to the same stand in one row.
fn section(state: &State) -> String {
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for (command, outcome) in state.lines() {
        let command = format!("`{command}`");
        match rows.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, commands)) => commands.push(command),
            None => rows.push((outcome, vec![command])),
        }
    }
    let title = state.name.replace('_', " ");
    let (first, rest) = title.split_at(1);
    let head = "| command | events | effects | answer |\n|---|---|---|---|\n";
    let row = |(outcome, commands): (&str, Vec<String>)| {
        let [events, effects, answer] = columns(outcome);
        format!("| {} | {events} | {effects} | {answer} |\n", commands.join(", "))
    };
    let rows: String = rows.into_iter().map(row).collect();
    format!("\n### {}{rest}\n\n{head}{rows}", first.to_uppercase())
}

/// Events, effects and answer of what a line leads to; the parts stand behind bars, in this order,
/// and each may be missing.
fn columns(outcome: &str) -> [String; 3] {
    let mut columns = [const { String::new() }; 3];
    for part in outcome.split(" | ") {
        let answers = ["already", "pending", "queued while ", "refused: ", "busy with ", "nothing"];
        if let Some(effects) = part.strip_prefix("do ") {
            effects.clone_into(&mut columns[1]);
        } else if answers.iter().any(|answer| part.starts_with(answer)) {
            part.clone_into(&mut columns[2]);
        } else {
            part.clone_into(&mut columns[0]);
        }
    }
    columns
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/transitions.md");

#[expect(clippy::disallowed_methods, reason = "the test compares a page, the core reads nothing")]
fn stored() -> String {
    std::fs::read_to_string(PAGE).unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "the test prints a page, the core writes nothing")]
fn write(page: &str) -> std::io::Result<()> {
    std::fs::write(PAGE, page)
}

#[expect(clippy::disallowed_methods, reason = "a person asks the test for it")]
fn asked_to_bless() -> bool {
    std::env::var_os(BLESS).is_some_and(|value| !value.is_empty())
}
