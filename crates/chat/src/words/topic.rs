//! What is said about topics.

use crate::text::Text;
use glis_client::labels::state;
use glis_wire::view::SessionView;

/// Where something is written in a topic that is no session's.
pub const NO_SESSION_IN_TOPIC: &str =
    "This topic is no session's. Write outside of any topic, or make a session with /new.";

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

/// A session that was chosen in a topic that is not its own.
pub fn switched_outside(session: &SessionView) -> Text {
    Text::plain("Outside of any topic you talk to ")
        .code(&session.name)
        .and(&format!(" ({}) now.", state(session)))
        .and(" It has a topic of its own; what you write here does not go to it.")
}

/// In the topic of a session that was archived.
pub fn topic_closed(name: &str) -> Text {
    Text::default().code(name).and(" is archived, and its topic is closed.")
}
