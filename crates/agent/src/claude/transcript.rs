//! What Claude Code has written down itself. Headless, it is read where its output was lost.

use super::tools::{Tools, blocks, new_task, tool_use};
use crate::heard::Said;
use crate::hearing::{Meaning, text};
use glis_core::input::Sign;
use glis_wire::view::Voice;
use serde_json::Value;

/// How it tells of an interruption.
const INTERRUPTED: &str = "[Request interrupted by user";
/// Said by the program itself where a turn was left unfinished.
const PLACEHOLDER: &str = "No response requested.";

/// Whether a line is about something beside the conversation.
pub(super) fn is_beside(words: &Value) -> bool {
    words["isSidechain"] == true || words["isMeta"] == true
}

/// Whether a line tells that the turn was interrupted.
pub(super) fn is_interruption(words: &Value) -> bool {
    blocks(words).any(|block| text(block, "/text").starts_with(INTERRUPTED))
}

/// Whether a line holds only Claude's placeholder text.
pub(super) fn is_filler(words: &Value) -> bool {
    blocks(words).all(|block| text(block, "/text") == PLACEHOLDER)
}

/// The tools that a line says were not allowed. It says the same of those that were interrupted.
pub(super) fn refused(words: &Value) -> Vec<String> {
    if text(words, "/toolDenialKind").is_empty() {
        return Vec::new();
    }
    let results = blocks(words).filter(|block| text(block, "/type") == "tool_result");
    results.map(|block| text(block, "/tool_use_id").to_owned()).collect()
}

/// What a line means, as the output would have told it.
pub(super) fn meaning(words: &Value, tools: &mut Tools) -> Meaning {
    let mut line = Meaning::default();
    if is_beside(words) {
        return line;
    }
    match text(words, "/type") {
        "user" if is_interruption(words) => line.sign(Sign::TurnCut),
        "user" => {
            for id in refused(words) {
                tools.denied(&id, &mut line);
            }
            for result in blocks(words).filter(|block| text(block, "/type") == "tool_result") {
                tools.ended(result, &mut line);
            }
            user_line(words, &mut line);
        }
        "assistant" if !is_filler(words) => {
            tools.note(words);
            assistant_line(words, &mut line);
        }
        _ => {}
    }
    line
}

fn user_line(words: &Value, line: &mut Meaning) {
    if let Some(said) = new_task(&words["toolUseResult"]) {
        line.words(said);
    }
    for block in blocks(words) {
        match text(block, "/type") {
            "tool_result" => line.sign(Sign::ToolEnded(text(block, "/tool_use_id").to_owned())),
            "text" => {
                line.took(text(block, "/text"));
                line.sign(Sign::TurnBegan);
            }
            _ => {}
        }
    }
}

fn assistant_line(words: &Value, line: &mut Meaning) {
    for block in blocks(words) {
        match text(block, "/type") {
            "text" => line.words(Said::new(Voice::Assistant, text(block, "/text"))),
            "tool_use" => tool_use(block, line),
            _ => continue,
        }
        // Each part of an answer has a line of its own, and each says how the answer ended.
        if text(words, "/message/stop_reason") == "end_turn" {
            line.sign(Sign::TurnEnded);
        }
    }
}
