//! What is said about files and voice.

use crate::policy::{AttachedKind, Said};
use crate::text::{Text, clean};

pub const COMMAND_WITH_FILE: &str = "A command takes no file. Nothing was done.";
/// A file came as the answer to a question.
pub const FILE_IS_NO_ANSWER: &str = "A file is no answer: reply to the question with words, and send the file as \
    a message of its own. Nothing was sent.";

/// A file that came without words, as an agent is told of it.
pub fn only_a(kind: AttachedKind) -> &'static str {
    match kind {
        AttachedKind::Document => "A file.",
        AttachedKind::Photo => "A photo.",
        AttachedKind::Video => "A video.",
        AttachedKind::Audio => "A recording.",
        AttachedKind::Voice => "A voice message.",
    }
}

/// A message as a person would know it again.
pub fn what_was_said(said: &Said) -> String {
    let file = said.file.as_ref().map(|file| match &file.name {
        Some(name) => format!("({})", super::short(name, 80)),
        None => format!("({})", only_a(file.kind).trim_end_matches('.').to_lowercase()),
    });
    let words = (!said.text.is_empty()).then(|| said.text.clone());
    words.into_iter().chain(file).collect::<Vec<_>>().join(" ")
}

/// What was understood of something spoken.
pub fn heard(text: &str) -> Text {
    Text::plain("Heard: ").and(&clean(text))
}

/// A file that is too large for the network.
pub fn too_large(bytes: u64, most: u64) -> String {
    format!(
        "The file is too large: {} MB, and a bot is given {} MB at most. Nothing was sent. Copy it to the machine \
         and tell the agent its path.",
        bytes.div_ceil(1024 * 1024),
        most / (1024 * 1024)
    )
}
