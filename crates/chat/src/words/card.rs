//! What an agent asks, as a card: its own words stand in a block, and never on a button.

use crate::text::{Text, units};
use glis_client::edits;
use glis_client::labels::doubt;
use glis_core::redact::redact;
use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, AskKind, DENY};
use glis_core::verdict::Want;
use glis_wire::plain::in_sight;
use glis_wire::view::WaitingFor;

/// So much of what is asked stands on a card; more of it is in a file beside it.
const BLOCK_UNITS_MAX: usize = 3000;

/// What stands below a card: how to answer it, then what became of it.
pub const BELOW_CARD_MAX: usize = 800;
/// So much of an answer and of its reason stands there; each may take two units.
const FATE_CHARS: usize = 150;
/// What became of a card that is shown once more.
pub const SHOWN_AGAIN: &str = "Shown again below";

/// A card: what it shows, the whole of it if that was too long, and what its buttons answer.
pub struct Shown {
    /// The card.
    pub text: Text,
    /// How to answer it other than by its buttons.
    pub how: &'static str,
    /// Everything that is asked, if not all of it is on the card.
    pub whole: Option<String>,
    /// Rows of buttons: what stands on each, and its answer.
    pub answers: Vec<Vec<(String, String)>>,
}

/// The card of something that a session asks.
pub fn card(session: &str, ask: &WaitingFor) -> Shown {
    let lead = match ask.kind {
        AskKind::Approval => " asks for approval".to_owned(),
        AskKind::Question => " asks".to_owned(),
        AskKind::Doubt => format!(": {}", doubt(ask)),
    };
    // Nothing that a screen does not show, or shows elsewhere, stands for something else.
    let seen = in_sight(&asked(ask).replace("\r\n", "\n"));
    let asked = redact(&seen);
    let hides = ask.kind == AskKind::Approval && hides(&seen, &asked);
    let (block, whole) = cut(&asked);
    let mut text = Text::default().bold(session).and(&format!("{lead}\n")).block(&block);
    let numbered = numbered(ask);
    for (number, choice) in numbered.iter().enumerate() {
        text = text.and(&format!("\n{}. ", number + 1)).and(&super::short(&in_sight(choice), 200));
    }
    let how = match (ask.kind, ask.choices.as_deref()) {
        (_, Some([])) => "\nThis can be answered at its terminal only.",
        (AskKind::Question, None) => "\nReply to this message to answer.",
        (AskKind::Approval, _) if takes(ask, DENY) => {
            "\nReply to this message to deny it and say why."
        }
        (AskKind::Approval | AskKind::Question | AskKind::Doubt, _) => "",
    };
    let mut answers = answers(ask, &numbered);
    if hides {
        text = text.and("\n").bold("Not all of it is shown").and(
            ": some looks like a secret. It can be denied here, and allowed on the machine alone.",
        );
        for row in &mut answers {
            row.retain(|(_, answer)| answer == DENY);
        }
        answers.retain(|row| !row.is_empty());
    }
    Shown { text, how, whole, answers }
}

/// Whether a card leaves out what may be a command: then nobody can have meant to allow it. What is taken out as
/// a secret may hold more than a secret (all that follows the first line of a key, what stands for a password in
/// an address).
fn hides(asked: &str, shown: &str) -> bool {
    // A token is made of these; what stands in its place as well.
    let in_token = |c: char| c.is_ascii_alphanumeric() || "_-.~+/=:[]".contains(c);
    let others = |text: &str| text.chars().filter(|c| !in_token(*c)).count();
    others(asked) != others(shown)
}

/// The tool and the whole command, or the files with what is to be changed in them.
fn asked(ask: &WaitingFor) -> String {
    let mut asked = subject(ask);
    for edit in ask.input.as_ref().map(edits).unwrap_or_default() {
        asked.extend(["\n\n", &edit.path, "\n", &edit.lines.join("\n")]);
    }
    asked
}

fn subject(ask: &WaitingFor) -> String {
    match &ask.wants {
        Some(Want::Command { line, folder }) => {
            let folder = folder.as_ref().map_or_else(String::new, |dir| format!("\n# in {dir}"));
            if ask.text.contains(line.as_str()) {
                format!("{}{folder}", ask.text)
            } else {
                format!("{}\n$ {line}{folder}", ask.text)
            }
        }
        Some(Want::Edit { paths }) => {
            let missing = paths.iter().filter(|path| !ask.text.contains(path.as_str()));
            let lines = std::iter::once(ask.text.as_str()).chain(missing.map(String::as_str));
            lines.collect::<Vec<_>>().join("\n")
        }
        None => ask.text.clone(),
    }
}

/// What stands on the card, and the whole if that is more.
fn cut(asked: &str) -> (String, Option<String>) {
    if units(asked) <= BLOCK_UNITS_MAX {
        return (asked.to_owned(), None);
    }
    let mut length = 0;
    let head: String = asked
        .chars()
        .take_while(|c| {
            length += c.len_utf16();
            length <= BLOCK_UNITS_MAX
        })
        .collect();
    (format!("{head}\n[... all of it is in the file]"), Some(asked.to_owned()))
}

/// The answers that have no word of ours: a button has their number.
fn numbered(ask: &WaitingFor) -> Vec<String> {
    let ours = [ALLOW, ALLOW_FOR_SESSION, DENY];
    let choices = ask.choices.as_deref().unwrap_or_default();
    choices.iter().filter(|choice| !ours.contains(&choice.as_str())).cloned().collect()
}

/// Whether one of our own words is an answer.
fn takes(ask: &WaitingFor, answer: &str) -> bool {
    match (&ask.choices, ask.kind) {
        (Some(choices), _) => choices.iter().any(|choice| choice == answer),
        (None, AskKind::Approval) => true,
        (None, AskKind::Doubt) => answer != ALLOW_FOR_SESSION,
        (None, AskKind::Question) => false,
    }
}

/// Words that mean yes below an approval, where a reply means no: these are told to press a button.
const CONSENT: [&str; 12] = [
    "y",
    "yes",
    "yep",
    "yeah",
    "ok",
    "okay",
    "allow",
    "sure",
    "go",
    "go on",
    "go ahead",
    "\u{1f44d}",
];

/// What a reply to a card answers, and why; `None` where only a button does.
pub fn answer_in_words<'t>(ask: &WaitingFor, text: &'t str) -> Option<(&'t str, Option<&'t str>)> {
    let plain = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    match (ask.kind, &ask.choices) {
        (AskKind::Question, None) => Some((text, None)),
        (AskKind::Approval, _) if takes(ask, DENY) && !CONSENT.contains(&plain.as_str()) => {
            Some((DENY, Some(text)))
        }
        (AskKind::Approval | AskKind::Doubt | AskKind::Question, _) => None,
    }
}

fn answers(ask: &WaitingFor, numbered: &[String]) -> Vec<Vec<(String, String)>> {
    let yes = if ask.kind == AskKind::Doubt { "Send again" } else { "Allow once" };
    let no = if ask.kind == AskKind::Doubt { "Drop it" } else { "Deny" };
    let words = [(yes, ALLOW), ("Allow for session", ALLOW_FOR_SESSION), (no, DENY)];
    let known = words.iter().filter(|(_, answer)| takes(ask, answer));
    let known: Vec<_> =
        known.map(|(label, answer)| (label.to_string(), answer.to_string())).collect();
    let numbers = numbered.iter().enumerate();
    let numbers: Vec<_> =
        numbers.map(|(at, answer)| ((at + 1).to_string(), answer.clone())).collect();
    let rows = numbers.chunks(5).map(<[_]>::to_vec).chain([known]);
    rows.filter(|row| !row.is_empty()).collect()
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The agent got this answer, with a reason where it is a no.
    Given {
        /// The answer.
        answer: &'a str,
        /// The reason.
        reason: Option<&'a str>,
    },
    /// A message that it may have got is sent once more.
    Resent,
    /// It is not.
    Dropped,
}

/// What an answer reads as on its card. Who has given it is told in whole words, as "by you".
pub fn fate_of(answer: Answer<'_>, by: Option<&str>) -> String {
    let (answer, reason) = match answer {
        Answer::Given { answer: ALLOW, reason } => ("Allowed once".to_owned(), reason),
        Answer::Given { answer: ALLOW_FOR_SESSION, reason } => {
            ("Allowed for the session".to_owned(), reason)
        }
        Answer::Given { answer: DENY, reason } => ("Denied".to_owned(), reason),
        Answer::Given { answer, reason } => {
            (format!("Answered: {}", super::short(answer, FATE_CHARS)), reason)
        }
        Answer::Resent => ("Sent again".to_owned(), None),
        Answer::Dropped => ("Dropped".to_owned(), None),
    };
    let by = by.map_or_else(String::new, |by| format!(", {}", super::short(by, 60)));
    let reason =
        reason.map_or_else(String::new, |why| format!(": {}", super::short(why, FATE_CHARS)));
    format!("{answer}{by}{reason}")
}

/// A card that is not open any more: what happened.
pub fn settled(shown: &Text, fate: Option<&str>) -> Text {
    let fate = fate.unwrap_or("No longer asked");
    shown.clone().and("\n\n").bold(fate)
}
