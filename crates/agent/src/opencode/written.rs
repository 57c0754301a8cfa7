//! What `OpenCode` has written down of a conversation: one document, as it exports it. It is read where
//! its output was lost, and has to say the same in the same words.

use crate::heard::{CUT_OFF, REFUSED, Said};
use crate::hearing::{Meaning, as_said, gist, text};
use glis_core::input::Sign;
use serde_json::Value;

/// By this the entries of its lists are called.
pub(super) const ENTRY: &str = "/content";

/// How it says that a tool was not allowed.
pub(super) const REJECTED: &str = "The user rejected permission";
/// Why a turn goes on: the answers of its tools are still to be given to the model.
const GOES_ON: &str = "tool-calls";
/// What an interruption is called.
const INTERRUPTED: &str = "MessageAbortedError";

/// What a conversation means, as the output would have told it.
pub(super) fn meaning(conversation: &Value) -> Meaning {
    let mut story = Story::default();
    for message in list(&conversation["messages"]) {
        match text(message, "/info/role") {
            "user" => story.user_message(message),
            _ => story.assistant_message(message),
        }
    }
    story.says();
    story.line
}

#[derive(Default)]
struct Story {
    line: Meaning,
    /// Words of an answer, up to a tool or its end: in the output they are one.
    saying: String,
}

impl Story {
    fn user_message(&mut self, message: &Value) {
        self.says();
        let words: String = list(&message["parts"])
            // Synthetic parts are added by the program, not said by the user.
            .filter(|part| text(part, "/type") == "text" && part["synthetic"] != true)
            .map(|part| text(part, "/text"))
            .collect();
        self.line.took(as_said(&words));
        self.line.sign(Sign::TurnBegan);
    }

    fn assistant_message(&mut self, message: &Value) {
        for part in list(&message["parts"]) {
            match text(part, "/type") {
                "text" if part["synthetic"] != true => self.saying.push_str(text(part, "/text")),
                "tool" => {
                    self.says();
                    self.tool(part);
                }
                _ => {}
            }
        }
        let (finish, error) = (text(message, "/info/finish"), &message["info"]["error"]);
        let is_over = !matches!(finish, "" | GOES_ON) || error.is_object();
        if is_over {
            self.says();
            self.line.sign(match text(error, "/name") {
                "" if finish == "length" => Sign::TurnFailed(CUT_OFF.to_owned()),
                "" if finish == "content-filter" => Sign::TurnFailed(REFUSED.to_owned()),
                "" => Sign::TurnEnded,
                INTERRUPTED => Sign::TurnCut,
                name => {
                    let told = text(error, "/data/message");
                    Sign::TurnFailed(if told.is_empty() { name } else { told }.to_owned())
                }
            });
        }
    }

    fn tool(&mut self, part: &Value) {
        let (name, call) = (text(part, "/tool"), text(part, "/callID"));
        self.line.tool_began(name, call, &part["state"]["input"], ENTRY);
        if text(part, "/state/error").contains(REJECTED) {
            self.line.words(Said::denied(name, gist(&part["state"]["input"])));
        }
        if matches!(text(part, "/state/status"), "completed" | "error") {
            self.line.sign(Sign::ToolEnded(call.to_owned()));
        }
    }

    fn says(&mut self) {
        self.line.says(&mut self.saying);
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
