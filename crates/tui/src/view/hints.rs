//! The keys that fit the moment, for the last row.

use super::question::{DIGITS, choices, takes, takes_words};
use crate::command::Command;
use crate::keymap::Place;
use crate::message::Tab;
use crate::model::{Access, Mode, Model};
use glis_core::Status;
use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, AskKind, DENY};
use glis_wire::view::SessionRow;

/// Keys of a box, which are the same whatever the user has chosen.
type Fixed = &'static [(&'static str, &'static str)];

const TRASH: Fixed = &[
    ("enter", "restore"),
    ("r", "rename"),
    ("D", "delete"),
    ("E", "delete what is due"),
    ("esc", "close"),
];
const JUDGED: Fixed =
    &[("enter", "show the session"), ("j", "next"), ("k", "previous"), ("esc", "close")];
const MESSAGE: Fixed = &[
    ("enter", "send"),
    ("ctrl+j", "new line"),
    ("ctrl+g", "editor"),
    ("ctrl+o", "add a file"),
    ("esc", "keep for later"),
];
const ANSWER: Fixed =
    &[("enter", "send"), ("ctrl+j", "new line"), ("ctrl+g", "editor"), ("esc", "close")];
const NEW: Fixed = &[
    ("enter", "start"),
    ("tab", "next field"),
    ("ctrl+j", "new line"),
    ("ctrl+g", "editor"),
    ("esc", "close"),
];
const PLAN: Fixed = &[
    ("enter", "execute"),
    ("tab", "next field"),
    ("left", "previous"),
    ("right", "next"),
    ("esc", "close"),
];
const FOUND: Fixed =
    &[("enter", "go there"), ("up", "previous"), ("down", "next"), ("esc", "close")];
const PICK: Fixed = &[
    ("enter", "restore"),
    ("d", "copy to a folder"),
    ("j", "next"),
    ("k", "previous"),
    ("esc", "close"),
];

/// What is offered to those as well who may only look.
const LOOKING: [Command; 14] = [
    Command::Asks,
    Command::Down,
    Command::Close,
    Command::ScrollUp,
    Command::ScrollDown,
    Command::Filter,
    Command::NextFound,
    Command::NextPart,
    Command::Open,
    Command::Zoom,
    Command::MarkRange,
    Command::Copy,
    Command::Help,
    Command::Quit,
];

/// The keys of the box that is open; none where keys are bound.
fn fixed(model: &Model) -> Fixed {
    match &model.mode {
        Mode::List
        | Mode::Asks { .. }
        | Mode::Past { words: None }
        | Mode::View { words: None }
        | Mode::Inline { .. } => &[],
        Mode::Help { words: None, .. } => {
            &[("j k", "scroll"), ("/", "search"), ("any key", "closes")]
        }
        Mode::Help { words: Some(_), .. } | Mode::History { .. } => {
            &[("letters", "search"), ("esc", "close")]
        }
        Mode::Confirm { .. } => &[("y", "yes"), ("n", "no")],
        Mode::Send { .. } => MESSAGE,
        Mode::Words(form) if form.takes_lines() => ANSWER,
        Mode::File(_) => &[("enter", "add it"), ("esc", "close")],
        Mode::New(_) => NEW,
        Mode::Plan(_) => PLAN,
        Mode::Filter => &[
            ("enter", "keep"),
            ("esc", "clear"),
            ("tab", "next saved one"),
            ("ctrl+s", "save, or forget"),
        ],
        Mode::Palette { .. } | Mode::Words(_) => &[("enter", "do it"), ("esc", "close")],
        Mode::Search(form) if form.sought.items().is_empty() => {
            &[("enter", "find"), ("esc", "close")]
        }
        Mode::Search(_) => FOUND,
        Mode::Trash { .. }
            if model.house.trash.items().is_empty() || model.house.access == Access::ReadOnly =>
        {
            &[("esc", "close")]
        }
        Mode::Trash { .. } => TRASH,
        Mode::Judged { .. } => JUDGED,
        Mode::Pick { .. } => PICK,
        Mode::Past { words: Some(_) } | Mode::View { words: Some(_) } => {
            &[("enter", "search"), ("esc", "close")]
        }
    }
}

/// What can be done with the session in hand, as it is.
fn of_row(session: &SessionRow) -> Vec<(Command, &'static str)> {
    let failed = matches!(session.status, Status::Failed | Status::Interrupted);
    let mut hints = match (failed, session.status) {
        (true, _) => Vec::new(),
        // It has no process to attach to, and a message wakes it.
        (false, Status::Suspended) => vec![(Command::Send, "wake it")],
        (false, _) => vec![(Command::Attach, "attach"), (Command::Send, "send")],
    };
    if session.status == Status::Pausing {
        hints.extend([(Command::TogglePause, "cancel"), (Command::Pause, "force")]);
    } else if session.can_resume {
        hints.push((Command::Resume, "resume"));
    } else if session.can_pause && !failed {
        hints.push((Command::TogglePause, "pause"));
    }
    if failed {
        hints.extend([(Command::Restart, "restart"), (Command::Tab(1), "what was said")]);
        hints.push((Command::Remove, "remove"));
    }
    if session.barred.is_some() || session.record_damaged {
        hints.insert(0, (Command::Acknowledge, "acknowledge"));
    }
    hints
}

/// The keys that fit the moment, most wanted first, each with what it does.
pub(super) fn hints(model: &Model) -> Vec<(String, &'static str)> {
    let is_inline = matches!(model.mode, Mode::Inline { .. });
    let Some(place) = model.mode.place().or(is_inline.then_some(Place::Inline)) else {
        return fixed(model).iter().map(|(key, does)| ((*key).to_owned(), *does)).collect();
    };
    let commands = match place {
        Place::Asks => ask_hints(model),
        Place::Past => past_hints(),
        Place::View => view_hints(model),
        Place::List | Place::Inline => list_hints(model),
    };
    let is_taken =
        |command: Command| model.house.access == Access::Full || LOOKING.contains(&command);
    let keys = |(command, does): (Command, &'static str)| {
        Some((model.keys.keys_of(place, command).filter(|_| is_taken(command))?, does))
    };
    digits(model, place).into_iter().chain(commands.into_iter().filter_map(keys)).collect()
}

/// The digits that choose, where the question in hand has choices.
fn digits(model: &Model, place: Place) -> Option<(String, &'static str)> {
    let own = model.hand.ask.as_ref().filter(|_| place == Place::Asks)?;
    let (_, ask) = model.rows.open_ask(&own.id, &own.ask.request)?;
    let digits = match choices(ask).len().min(DIGITS) {
        0 => return None,
        1 => "1".to_owned(),
        last => format!("1-{last}"),
    };
    (model.house.access == Access::Full).then_some((digits, "choose"))
}

/// What answers the question in hand comes first, and a no is never left out for want of room.
fn ask_hints(model: &Model) -> Vec<(Command, &'static str)> {
    let own = if let Mode::Asks { at } = &model.mode { at.as_ref() } else { None };
    let ask = own.and_then(|(id, ask)| model.rows.open_ask(id, ask)).map(|(_, ask)| ask);
    let first = match ask.map(|ask| (ask.kind, ask)) {
        None => vec![(Command::Down, "next")],
        Some((AskKind::Question, ask)) if !takes_words(ask) => Vec::new(),
        Some((AskKind::Question, _)) => vec![(Command::Send, "in words")],
        Some((AskKind::Doubt, _)) => {
            vec![(Command::Allow, "send again"), (Command::Deny, "drop")]
        }
        Some((AskKind::Approval, ask)) => {
            let offered = [
                (ALLOW, Command::Allow, "allow"),
                (DENY, Command::Deny, "deny"),
                (ALLOW_FOR_SESSION, Command::AllowForSession, "for the session"),
            ];
            let taken = offered.into_iter().filter(|(word, ..)| takes(ask, word));
            // A plain program would take a reason for its next line.
            let rest = if takes_words(ask) {
                Some((Command::Send, "in words"))
            } else {
                takes(ask, DENY).then_some((Command::DenyBecause, "with a reason"))
            };
            taken.map(|(_, command, does)| (command, does)).chain(rest).collect()
        }
    };
    let last = [(Command::Attach, "attach"), (Command::Close, "back")];
    first.into_iter().chain(last).collect()
}

fn past_hints() -> Vec<(Command, &'static str)> {
    vec![
        (Command::Close, "back to live"),
        (Command::ScrollUp, "back"),
        (Command::ScrollDown, "on"),
        (Command::Filter, "search"),
        (Command::NextFound, "next"),
        (Command::MarkRange, "select"),
        (Command::Copy, "copy"),
    ]
}

/// What can be done in the page that is shown.
fn view_hints(model: &Model) -> Vec<(Command, &'static str)> {
    let mut hints = vec![(Command::Close, "list")];
    match model.shown_tab() {
        Tab::Diff => hints.extend([
            (Command::NextPart, "file"),
            (Command::NextFound, "hunk"),
            (Command::Mark, "seen"),
            (Command::Remark, "comment"),
            (Command::Send, "send"),
            (Command::Merge, "merge"),
        ]),
        Tab::Conversation => hints.extend([
            (Command::NextPart, "turn"),
            (Command::Open, "open"),
            (Command::Filter, "search"),
            (Command::NextFound, "next"),
            (Command::Send, "send"),
        ]),
        Tab::Terminal | Tab::Snapshots | Tab::Runs | Tab::Events => {
            hints.extend([(Command::Filter, "search"), (Command::NextFound, "next")]);
        }
    }
    hints.extend([(Command::Copy, "copy"), (Command::Zoom, "zoom")]);
    hints
}

/// What fits the session in hand comes first.
fn list_hints(model: &Model) -> Vec<(Command, &'static str)> {
    let mut hints = Vec::new();
    if model.rows.all.values().any(SessionRow::asks_a_person) {
        let does = match model.house.access {
            Access::Full => "answer",
            Access::ReadOnly => "questions",
        };
        hints.push((Command::Asks, does));
    }
    match model.session() {
        None => {
            hints.extend(model.removed_in_hand().map(|_| (Command::Down, "next")));
            hints.push((Command::New, "new session"));
        }
        Some(session) => {
            hints.extend(of_row(session));
            hints.push((Command::New, "new"));
        }
    }
    hints.push((Command::Quit, "quit"));
    hints
}
