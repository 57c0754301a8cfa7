//! What is said about topics.

use crate::text::Text;

/// In a topic that was just made.
pub fn topic_made(name: &str) -> Text {
    Text::plain("This topic is ").code(name).and(". What you write here goes to it.")
}

/// In the chat, where a topic could not be made.
pub fn no_topic(name: &str) -> Text {
    Text::plain("No topic was made for ").code(name).and(
        ": the group does not allow it. Give the bot the right to manage topics; until then write here.",
    )
}

/// In the chat, where a topic was.
pub fn topic_gone(name: &str) -> Text {
    Text::plain("The topic of ").code(name).and(" is gone or closed. The session goes on here.")
}
