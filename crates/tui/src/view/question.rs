//! One question: in a line, or whole with everything that it asks leave for.

use super::pages::who;
use super::patched::patch_line;
use super::pen::{Lines, beginning, styled, wrapped};
use crate::command::Command;
use crate::keymap::Place;
use crate::message::Lead;
use crate::model::{Access, Model};
use crate::theme::Theme;
use glis_client::labels::{Tone, doubt};
use glis_client::{edits, questions, said_beside};
use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, AskKind};
use glis_core::verdict::Want;
use glis_wire::view::{SessionRow, WaitingFor};

/// As many choices have a digit.
pub(super) const DIGITS: usize = 9;
/// So much of what led to a question reminds of it; `2` in the list has all of it.
const LEAD_ROWS: usize = 8;
const LEAD_ENTRY_ROWS: usize = 3;

/// What is asked, for a line of a list.
pub(super) fn in_short(session: &SessionRow, ask: &WaitingFor) -> String {
    match ask.kind {
        AskKind::Doubt => format!("{} {}", doubt(ask), ask.text),
        AskKind::Approval | AskKind::Question => text(session, ask),
    }
}

/// Its words. A file that it is about is named as in the worktree; a command stays as it is run.
fn text(session: &SessionRow, ask: &WaitingFor) -> String {
    let is_edit = matches!(ask.wants, Some(Want::Edit { .. }));
    if is_edit { in_worktree(session, &ask.text) } else { ask.text.clone() }
}

/// A path of the worktree as it is called there; any other one whole.
fn relative<'p>(session: &SessionRow, path: &'p str) -> &'p str {
    let inside = session.worktree.as_ref().and_then(|tree| path.strip_prefix(tree.as_str()));
    inside.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// What kind of question it is, in words.
pub(super) fn kind(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Approval => "wants to be allowed",
        AskKind::Question => "asks",
        AskKind::Doubt => "may not have got a message",
    }
}

/// Everything that has to be seen before it is answered.
pub(super) fn whole(
    model: &Model,
    (session, ask): (&SessionRow, &WaitingFor),
    columns: u16,
) -> Lines {
    let theme = model.theme;
    let air = || (String::new(), theme.text());
    let mut lines = vec![air()];
    if ask.kind == AskKind::Doubt {
        lines.extend([(doubt(ask), theme.tone(Tone::Attention)), air()]);
    }
    lines.extend(styled("", &text(session, ask), columns, theme.text()));
    let named = |path: &String| {
        let path = format!("✎ {}", relative(session, path));
        styled("", &path, columns, theme.accent())
    };
    let edits = ask.input.as_ref().map_or_else(Vec::new, edits);
    match &ask.wants {
        Some(Want::Command { line, folder }) => {
            lines.push(air());
            lines.extend(styled("$ ", line, columns, theme.accent()));
            if let Some(folder) = folder {
                let folder = match relative(session, folder) {
                    _ if session.worktree.as_ref() == Some(folder) => "its worktree",
                    folder => folder,
                };
                lines.extend(styled("", &format!("in {folder}"), columns, theme.faint()));
            }
        }
        Some(Want::Edit { paths }) if edits.is_empty() => {
            lines.push(air());
            lines.extend(paths.iter().flat_map(named));
        }
        Some(Want::Edit { .. }) | None => {}
    }
    for edit in &edits {
        lines.push(air());
        lines.extend(named(&edit.path));
        lines.extend(edit.lines.iter().flat_map(|line| patch_line(line, columns, theme)));
    }
    for (name, words) in said_beside(ask) {
        let words = in_worktree(session, &words);
        lines.extend(styled("", &format!("{name}: {words}"), columns, theme.faint()));
    }
    lines.extend(chosen_from(ask, columns, theme));
    lines
}

/// What led to it, so far as it is known: the end of what was said, else of its screen. And where no key of the last
/// row answers it, how it is answered.
pub(super) fn around(
    model: &Model,
    (session, ask): (&SessionRow, &WaitingFor),
    columns: u16,
) -> Lines {
    let theme = model.theme;
    let air = || (String::new(), theme.text());
    let mut lines = vec![air()];
    let form = questions(ask).len() > 1 && choices(ask).is_empty();
    let elsewhere = ask.choices.as_ref().is_some_and(Vec::is_empty);
    if model.house.access == Access::ReadOnly || elsewhere || form {
        lines.extend(styled("", &keys_for(model, session, ask), columns, theme.faint()));
        lines.push(air());
    }
    let lead = model.hand.lead.as_ref().filter(|lead| lead.is_of(&session.id, &ask.request));
    let told = lead.map(|lead| told(lead, columns, theme)).unwrap_or_default();
    if !told.is_empty() {
        lines.push(("before that".to_owned(), theme.faint()));
        lines.extend(told);
        lines.push(air());
    }
    lines
}

fn told(lead: &Lead, columns: u16, theme: Theme) -> Lines {
    let said = lead.said.iter().filter(|entry| !entry.content.trim().is_empty());
    let said = said.flat_map(|entry| {
        let text = format!("{}: {}", who(entry.voice), entry.content.trim());
        beginning(&text, columns, LEAD_ENTRY_ROWS)
    });
    let mut rows: Vec<String> = said.chain(lead.screen.iter().cloned()).collect();
    let rows = rows.split_off(rows.len().saturating_sub(LEAD_ROWS));
    rows.into_iter().map(|row| (row, theme.faint())).collect()
}

/// Paths of the worktree in words of an agent, as they are called there.
fn in_worktree(session: &SessionRow, words: &str) -> String {
    match &session.worktree {
        Some(worktree) => words.replace(&format!("{worktree}/"), ""),
        None => words.to_owned(),
    }
}

/// What may be answered, with what the agent says of it. The choices of a single question have their digits.
fn chosen_from(ask: &WaitingFor, columns: u16, theme: Theme) -> Lines {
    let air = || (String::new(), theme.text());
    let (all, choices) = (questions(ask), choices(ask));
    let mut lines: Lines = if choices.is_empty() { Vec::new() } else { vec![air()] };
    for (at, choice) in choices.iter().enumerate().take(DIGITS) {
        let option = all.iter().flat_map(|it| &it.options).find(|option| option.label == choice);
        let about = option.and_then(|option| option.about);
        lines.extend(offered((&(at + 1).to_string(), choice), about, columns, theme));
    }
    for question in &all {
        if choices.is_empty() {
            lines.push(air());
            let text = Some(question.question).filter(|_| all.len() > 1);
            lines.extend(styled("", text.unwrap_or_default(), columns, theme.text()));
            for option in &question.options {
                lines.extend(offered(("·", option.label), option.about, columns, theme));
            }
        }
        if question.takes_several {
            lines.push(("several may be chosen".to_owned(), theme.faint()));
        }
    }
    lines
}

/// One thing that may be answered, behind its mark.
fn offered((mark, label): (&str, &str), about: Option<&str>, columns: u16, theme: Theme) -> Lines {
    let shown = wrapped(label, columns.saturating_sub(3)).into_iter().enumerate();
    let shown = shown.map(|(row, text)| format!("{}  {text}", if row == 0 { mark } else { " " }));
    let about = styled("   ", about.unwrap_or_default(), columns, theme.faint());
    shown.map(|line| (line, theme.accent())).chain(about).collect()
}

/// What a question may be answered with, where it is one question: as it can be told, else as the agent
/// lists it.
pub(crate) fn choices(ask: &WaitingFor) -> Vec<String> {
    if ask.kind != AskKind::Question {
        return Vec::new();
    }
    match (&ask.choices, questions(ask).as_slice()) {
        (Some(choices), _) => choices.clone(),
        (None, [only]) => only.options.iter().map(|option| option.label.to_owned()).collect(),
        (None, _) => Vec::new(),
    }
}

/// Whether it can be answered with this word. A line on a screen asks for no leave that lasts.
pub(crate) fn takes(ask: &WaitingFor, word: &str) -> bool {
    match &ask.choices {
        Some(choices) => choices.iter().any(|one| one == word),
        None => word != ALLOW_FOR_SESSION || !is_from_screen(ask),
    }
}

/// Whether any words answer it. An agent takes other words than a yes for a no; to a plain program they are typed.
pub(crate) fn takes_words(ask: &WaitingFor) -> bool {
    match ask.kind {
        AskKind::Question => ask.choices.is_none(),
        AskKind::Approval => ask.choices.is_none() && is_from_screen(ask),
        AskKind::Doubt => false,
    }
}

/// Whether it is a line on the screen of a plain program, as its request tells.
fn is_from_screen(ask: &WaitingFor) -> bool {
    ask.request.starts_with("screen-")
}

pub(crate) fn keys_for(model: &Model, session: &SessionRow, ask: &WaitingFor) -> String {
    if model.house.access == Access::ReadOnly {
        return "read-only: it is answered elsewhere".to_owned();
    }
    let key = |command: Command| model.key(Place::Asks, command);
    let (yes, no) = (key(Command::Allow), key(Command::Deny));
    match (ask.kind, ask.choices.as_deref()) {
        (AskKind::Doubt, _) => format!("{yes} sends it again · {no} drops it"),
        (_, Some([])) => {
            let attach = key(Command::Attach);
            format!("only at its own terminal: {attach} attaches to {}", session.name)
        }
        (AskKind::Question, _) if !choices(ask).is_empty() => {
            let last = choices(ask).len().min(DIGITS);
            let words =
                takes_words(ask).then(|| format!(" · {} answers in words", key(Command::Send)));
            format!("1 to {last} chooses{}", words.unwrap_or_default())
        }
        (AskKind::Question, _) if questions(ask).len() > 1 => {
            format!("{} answers all, as {{\"question\": \"answer\"}}", key(Command::Send))
        }
        (AskKind::Question, _) => format!("{} answers in words", key(Command::Send)),
        (AskKind::Approval, _) => {
            let (always, why) = (key(Command::AllowForSession), key(Command::DenyBecause));
            let once = takes(ask, ALLOW).then(|| format!("{yes} once · "));
            let session =
                takes(ask, ALLOW_FOR_SESSION).then(|| format!("{always} for the session · "));
            let allows = [once, session].into_iter().flatten().collect::<String>();
            let words = key(Command::Send);
            let rest = if takes_words(ask) {
                format!("{words} answers in words")
            } else {
                format!("{why} with a reason")
            };
            format!("{allows}{no} deny · {rest}")
        }
    }
}
