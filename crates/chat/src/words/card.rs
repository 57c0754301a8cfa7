//! What an agent asks, as a card: its own words stand in a block, and never on a button.

use crate::outbox::POST_UNITS_MAX;
use crate::store::Seen;
use crate::text::{Text, units};
use glis_client::labels::doubt;
use glis_client::{Listed, Offered, behind_tool, edits, questions, said_beside};
use glis_core::redact::redact;
use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, AskKind, DENY};
use glis_core::verdict::Want;
use glis_wire::plain::{in_one_line, in_sight};
use glis_wire::view::WaitingFor;

/// So much of what is asked stands on a card; where that is not all, a file before it has the whole.
const BLOCK_UNITS_MAX: usize = POST_UNITS_MAX - AROUND_BLOCK_MAX - BELOW_CARD_MAX;
/// What stands around it: the session's name, why a message was not delivered, that not all is shown.
const AROUND_BLOCK_MAX: usize = 500;
/// So much is told of why a message was not delivered.
const WHY_CHARS: usize = 150;

/// What stands below a card: how to answer it, then what became of it.
pub const BELOW_CARD_MAX: usize = 800;
/// So much of an answer and of its reason stands there; each may take two units.
const RESOLUTION_CHARS: usize = 150;
/// What became of a card that is shown once more.
pub const SHOWN_AGAIN: &str = "Shown again below";

/// A card: what it shows, the whole of it if that was too long, and what its buttons answer.
pub struct Shown {
    pub text: Text,
    /// Where the rest of it is, and how to answer it other than by its buttons.
    pub how: String,
    /// Everything that is asked, if not all of it is on the card, and what stands below the card where nobody gets
    /// that.
    pub whole: Option<(String, Text)>,
    /// Rows of buttons: what stands on each, and its answer.
    pub answers: Vec<Vec<(String, String)>>,
}

pub fn card(session: &str, ask: &WaitingFor) -> Shown {
    let lead = match ask.kind {
        AskKind::Approval => " asks for approval".to_owned(),
        AskKind::Question => " asks".to_owned(),
        AskKind::Doubt => {
            let why = ask.not_delivered.as_deref().map(|why| super::short(why, WHY_CHARS));
            format!(": {}", doubt(&WaitingFor { not_delivered: why, ..ask.clone() }))
        }
    };
    // Nothing that a screen does not show, or shows elsewhere, stands for something else.
    let seen = in_sight(&asked(ask).replace("\r\n", "\n"));
    let (asked, choices) = (redact(&seen), listed(ask));
    let hides = ask.kind == AskKind::Approval && hides(&seen, &asked);
    let (block, whole) = cut(&asked, &redact(&choices));
    let mut text = Text::default().bold(session).and(&format!("{lead}\n")).block(&block);
    let mut answers = answers(ask, &numbered(ask));
    let missing = if hides {
        Some("some looks like a secret")
    } else {
        is_cut(ask).then_some("it is too long")
    };
    if let Some(why) = missing {
        text = text.join(&unseen(ask, why));
        for row in &mut answers {
            row.retain(|(_, answer)| answer == DENY);
        }
        answers.retain(|row| !row.is_empty());
    }
    let above = match (&whole, missing) {
        (Some(_), None) => "\nAll of it is in the file above.",
        (Some(_), Some(_)) => "\nMore of it is in the file above.",
        (None, _) => "",
    };
    let how = format!("{above}{}", how_to_answer(ask));
    let whole = whole.map(|whole| (whole, unseen(ask, "the network does not take the file")));
    Shown { text, how, whole, answers }
}

/// What no button and no reply answers.
const AT_TERMINAL: &str = "\nThis can be answered at its terminal only.";

/// What is said to words that answer nothing, below a card that shows so much.
pub fn no_answer(ask: &WaitingFor, seen: Seen) -> &'static str {
    match (seen, ask.choices.as_deref()) {
        (_, Some([])) => AT_TERMINAL.trim_ascii_start(),
        (Seen::Nothing, _) => NOT_HERE,
        (Seen::Part, _) if ask.kind != AskKind::Approval => NOT_HERE,
        (Seen::All | Seen::Part, _) => "Press one of the buttons to answer this.",
    }
}

/// What nobody has seen whole.
const NOT_HERE: &str =
    "This cannot be answered here: not all of it is shown. It can be answered on the machine.";

/// How to answer other than by a button.
fn how_to_answer(ask: &WaitingFor) -> &'static str {
    match (ask.kind, ask.choices.as_deref()) {
        (_, Some([])) => AT_TERMINAL,
        (AskKind::Question, None) if questions(ask).len() > 1 => {
            "\nReply to this message to answer all of it, as {\"question\": \"answer\"}."
        }
        (AskKind::Question, None) => "\nReply to this message to answer.",
        (AskKind::Approval, _) if takes(ask, DENY) => {
            "\nReply to this message to deny it and say why."
        }
        (AskKind::Approval | AskKind::Question | AskKind::Doubt, _) => "",
    }
}

/// Whether not all of it is kept, so that nobody can allow it.
fn is_cut(ask: &WaitingFor) -> bool {
    let only_no = ask.choices.as_deref().is_some_and(|choices| choices == [DENY]);
    ask.kind == AskKind::Approval && only_no
}

/// That a part of what is asked is not here, why, and where it can be answered.
fn unseen(ask: &WaitingFor, why: &str) -> Text {
    let can = match ask.kind {
        AskKind::Approval if is_cut(ask) => "denied, or answered at the agent's own terminal",
        AskKind::Approval if takes(ask, DENY) => "denied here, and allowed on the machine alone",
        AskKind::Approval | AskKind::Question | AskKind::Doubt => "answered on the machine",
    };
    let text = Text::plain("\n").bold("Not all of it is shown");
    text.and(&format!(": {why}. It can be {can}."))
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

/// The tool and the whole command, or the files with what is to be changed in them, and what else an agent says with
/// it: what it wants to be allowed, or what may be answered.
fn asked(ask: &WaitingFor) -> String {
    let mut asked = subject(ask);
    for edit in ask.input.as_ref().map(edits).unwrap_or_default() {
        asked.extend(["\n\n", &edit.path, "\n", &edit.lines.join("\n")]);
    }
    for (name, value) in said_beside(ask) {
        asked.extend(["\n\n", &name, ": ", &value]);
    }
    let all = questions(ask);
    for question in &all {
        let words = Some(question.question).filter(|_| all.len() > 1);
        let title: Vec<&str> = question.header.into_iter().chain(words).collect();
        let options = question.options.iter().filter(|_| numbered(ask).is_empty());
        let lines: String = options.map(|it| line_of("\u{b7}", it.label, it.about)).collect();
        let several = if question.takes_several { "\nSeveral may be chosen." } else { "" };
        if !(title.is_empty() && lines.is_empty() && several.is_empty()) {
            asked.extend(["\n\n", &title.join(": "), &lines, several]);
        }
    }
    asked
}

/// What can be chosen by a number, with what the agent says of it.
fn listed(ask: &WaitingFor) -> String {
    let all = questions(ask);
    let options: Vec<&Offered<'_>> =
        all.iter().flat_map(|Listed { options, .. }| options).collect();
    let line = |(at, choice): (usize, String)| {
        let option = options.iter().find(|option| option.label == choice);
        line_of(&format!("{}.", at + 1), &choice, option.and_then(|option| option.about))
    };
    numbered(ask).into_iter().enumerate().map(line).collect()
}

/// A line for what may be answered, and one for what it means.
fn line_of(mark: &str, label: &str, about: Option<&str>) -> String {
    let whole = |text: &str| in_one_line(&in_sight(text));
    let about = about.map_or_else(String::new, |about| format!("\n   {}", whole(about)));
    format!("\n{mark} {}{about}", whole(label))
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
            let missing = paths.iter().filter(|path| behind_tool(ask) != Some(path.as_str()));
            let lines = std::iter::once(ask.text.as_str()).chain(missing.map(String::as_str));
            lines.collect::<Vec<_>>().join("\n")
        }
        None => ask.text.clone(),
    }
}

/// What stands on the card, and the whole if that is more. The choices stay where that can be: buttons have their
/// numbers alone.
fn cut(asked: &str, choices: &str) -> (String, Option<String>) {
    let whole = format!("{asked}{choices}");
    if units(&whole) <= BLOCK_UNITS_MAX {
        return (whole, None);
    }
    let end = Some(choices).filter(|end| units(end) < BLOCK_UNITS_MAX / 2).unwrap_or_default();
    let mut length = units(end);
    let head: String = asked
        .chars()
        .take_while(|c| {
            length += c.len_utf16();
            length <= BLOCK_UNITS_MAX
        })
        .collect();
    (format!("{head}\n[...]{end}"), Some(whole))
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
        answer: &'a str,
        reason: Option<&'a str>,
    },
    /// A message that it may have got is sent once more.
    Resent,
    Dropped,
}

/// What an answer reads as on its card. Who has given it is told in whole words, as "by you".
pub fn resolution_of(answer: Answer<'_>, by: Option<&str>) -> String {
    let (answer, reason) = match answer {
        Answer::Given { answer: ALLOW, reason } => ("Allowed once".to_owned(), reason),
        Answer::Given { answer: ALLOW_FOR_SESSION, reason } => {
            ("Allowed for the session".to_owned(), reason)
        }
        Answer::Given { answer: DENY, reason } => ("Denied".to_owned(), reason),
        Answer::Given { answer, reason } => {
            (format!("Answered: {}", super::short(answer, RESOLUTION_CHARS)), reason)
        }
        Answer::Resent => ("Sent again".to_owned(), None),
        Answer::Dropped => ("Dropped".to_owned(), None),
    };
    let by = by.map_or_else(String::new, |by| format!(", {}", super::short(by, 60)));
    let reason =
        reason.map_or_else(String::new, |why| format!(": {}", super::short(why, RESOLUTION_CHARS)));
    format!("{answer}{by}{reason}")
}

/// A card that is not open any more: what happened.
pub fn settled(shown: &Text, resolution: Option<&str>) -> Text {
    let resolution = resolution.unwrap_or("No longer asked");
    shown.clone().and("\n\n").bold(resolution)
}
