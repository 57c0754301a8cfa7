//! What is said to an agent: whether it can take that, and what a person has to know of it.

use crate::{Complaint, Kind, unexpected};
use glis_client::Client;
use glis_core::plain::without_escapes;
use glis_core::spec::Mode;
use glis_core::talk::{ALLOW_FOR_SESSION, AskKind};
use glis_wire::client::{Request, Response};
use glis_wire::view::SessionView;

/// A message that an agent can take. What only holds blanks or keys is pressed away by terminals, and
/// would be waited for in vain.
pub fn sayable(text: String) -> Result<String, Complaint> {
    if is_blank(&text) {
        return Err(Complaint::new(Kind::Usage, "the message is empty").hint("say something"));
    }
    Ok(text)
}

fn is_blank(text: &str) -> bool {
    without_escapes(text).chars().all(|c| c.is_whitespace() || c.is_control())
}

/// A message that this session takes. For a plain program an empty one is the Enter that it waits for.
pub fn sendable(control: &mut Client, session: &str, text: String) -> Result<String, Complaint> {
    if !is_blank(&text) {
        return Ok(text);
    }
    let Response::Session(shown) = control.call(Request::Show { session: session.to_owned() })?
    else {
        return Err(unexpected());
    };
    if shown.agent == "command" { Ok(String::new()) } else { sayable(text) }
}

/// What is to be known of a message that was stored.
pub fn warning_of(session: &SessionView, text: &str) -> Option<String> {
    let longest = text.lines().map(str::len).max().unwrap_or_default();
    let has_escapes = without_escapes(text) != text;
    may_be_cut(session, longest).or_else(|| is_bared(session, has_escapes))
}

/// The longest line that a terminal takes which edits lines for its program.
const LINE_BYTES_MAX: usize = 4095;

/// What is to be known of a message that waits for a program whose terminal may not take it. Which
/// mode that will be in, only the program decides.
fn may_be_cut(session: &SessionView, longest: usize) -> Option<String> {
    let edits = session.agent == "command" && session.mode == Mode::Terminal;
    (edits && session.queued > 0 && longest > LINE_BYTES_MAX).then(|| {
        format!(
            "warning: a line of {longest} bytes; a terminal that edits lines takes {LINE_BYTES_MAX} at \
             most. If it cannot be sent, `glis log {}` will say so and have its text",
            session.name
        )
    })
}

/// What is to be known of a message with escape sequences: at a terminal each would be a key.
fn is_bared(session: &SessionView, has_escapes: bool) -> Option<String> {
    let typed = session.mode == Mode::Terminal || session.agent == "command";
    (typed && has_escapes).then(|| {
        format!(
            "note: escape sequences are not typed; the agent gets the text without them, `glis log {}` \
             has it whole",
            session.name
        )
    })
}

/// A slip of the pen must not count as a no. Whether the question is still open when the answer
/// arrives is for the daemon to say. Returns which question is meant.
pub fn check_answer(
    control: &mut Client,
    name: &str,
    request: Option<&str>,
    words: &str,
) -> Result<Option<String>, Complaint> {
    let show = Request::Show { session: name.to_owned() };
    let Response::Session(shown) = control.call(show)? else { return Err(unexpected()) };
    let session = shown.row;
    let Some(open) = session.waiting_for else { return Ok(request.map(ToOwned::to_owned)) };
    let meant = request.is_none_or(|id| id == open.request);
    let decides = match open.kind {
        // A question on the screen of an unknown program may want any word.
        AskKind::Approval => session.agent != "command",
        AskKind::Doubt => true,
        AskKind::Question => false,
    };
    let plain = ["y", "yes", "n", "no"].contains(&words.to_ascii_lowercase().as_str());
    let decided = plain || matches!(words, "allow" | "deny" | ALLOW_FOR_SESSION);
    if meant && decides && !decided {
        return Err(Complaint::new(
            Kind::Usage,
            format!("session `{}` wants a yes or a no, not {words:?}", session.name),
        )
        .hint(format!("`glis answer {0} allow` or `glis answer {0} deny`", session.name)));
    }
    Ok(Some(request.map_or(open.request, ToOwned::to_owned)))
}
