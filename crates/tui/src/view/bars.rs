//! The bars: how many need a person, what was just said, which keys fit the moment.

use super::pen::{Pen, width};
use crate::keymap::{Command, Place};
use crate::model::{Access, Kind, Link, Mode, Model, SPIN_MS};
use glis_client::labels::Tone;
use glis_core::Status;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// A wheel that turns.
const WHEEL: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The wheel as it stands.
pub(super) fn wheel(model: &Model) -> &'static str {
    let turn = usize::try_from(model.now.ms / SPIN_MS).unwrap_or(0);
    WHEEL.get(turn % WHEEL.len()).copied().unwrap_or("·")
}

/// The first row.
pub(super) fn top(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    pen.tint(area, theme.lifted());
    let lifted = theme.lifted();
    let mut x = pen.put(area.x + 1, area.y, area.width, "glis", theme.accent().patch(lifted)) + 2;
    let counts = [
        (count(model, &[Status::Waiting]), "waiting", Tone::Attention),
        (count(model, &[Status::Failed, Status::Interrupted]), "failed", Tone::Bad),
        (count(model, &[Status::Busy, Status::Resuming, Status::Pausing]), "busy", Tone::Good),
        (
            model.sessions.len(),
            if model.sessions.len() == 1 { "session" } else { "sessions" },
            Tone::Faint,
        ),
    ];
    let right = state(model);
    let room = area.right().saturating_sub(width(&right.0) + 2);
    for (number, word, tone) in counts {
        let text = format!("{number} {word}");
        if number == 0 && word != "sessions" || x + width(&text) >= room {
            continue;
        }
        x = pen.put(x, area.y, width(&text), &text, theme.tone(tone).patch(lifted)) + 2;
    }
    let style = theme.tone(right.1).patch(lifted);
    pen.put_right(area.right().saturating_sub(1), area.y, area.width / 2, &right.0, style);
}

fn count(model: &Model, statuses: &[Status]) -> usize {
    model.sessions.values().filter(|session| statuses.contains(&session.status)).count()
}

/// What is to be known about all of it.
fn state(model: &Model) -> (String, Tone) {
    let house = model.under_way.values().find(|under_way| under_way.id.is_none());
    if let Link::Lost(_) = &model.link {
        return (format!("{} no daemon, trying again", wheel(model)), Tone::Bad);
    }
    if model.link == Link::Connecting {
        return ("connecting".to_owned(), Tone::Faint);
    }
    if let Some(under_way) = house {
        return (format!("{} {}", wheel(model), under_way.label), Tone::Attention);
    }
    match model.gate.as_str() {
        "paused" => ("⏸ PAUSED  U resumes all".to_owned(), Tone::Attention),
        "pausing" => (format!("{} PAUSING...", wheel(model)), Tone::Attention),
        _ if model.access == Access::ReadOnly => ("read-only".to_owned(), Tone::Calm),
        _ => (String::new(), Tone::Faint),
    }
}

/// What was just said, or the filter.
pub(super) fn notice(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    let theme = model.theme;
    let room = area.width.saturating_sub(2);
    if let (Some(notice), false) = (&model.notice, model.mode == Mode::Filter) {
        let (mark, tone) = match notice.kind {
            Kind::Done => ("✓", Tone::Good),
            Kind::Wrong => ("✗", Tone::Bad),
        };
        let text = format!("{mark} {}", notice.told.message);
        let hint = notice.told.hint.as_deref().unwrap_or_default();
        let shown = if width(hint) == 0 {
            room
        } else {
            room.saturating_sub(width(hint).min(room / 2) + 2)
        };
        let x = pen.put(area.x + 1, area.y, shown, &text, theme.tone(tone));
        pen.put(x + 2, area.y, area.right().saturating_sub(x + 3), hint, theme.faint());
        return;
    }
    let x = pen.put(area.x + 1, area.y, room, "/", theme.accent());
    let x = pen.put(x, area.y, room.saturating_sub(1), model.filter.text(), theme.text());
    let all = format!("{} of {}", model.ids().count(), model.sessions.len());
    pen.put(x + 2, area.y, area.right().saturating_sub(x + 2), &all, theme.faint());
}

/// The last row: keys that fit the moment.
pub(super) fn hints(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    let mut x = area.x + 1;
    if let Some(prefix) = &model.prefix {
        let keys = prefix.keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let text = format!("{keys} …  p pause");
        pen.put(x, area.y, area.width.saturating_sub(2), &text, theme.accent());
        return;
    }
    let mut end = area.right();
    // How to find the rest is always there.
    let help = model.keys.keys_of(Place::List, Command::Help);
    if let (Some(key), Mode::List | Mode::Asks { .. }) = (help, &model.mode) {
        let text = format!("{key} keys");
        end = end.saturating_sub(width(&text) + 2);
        pen.put(end + 1, area.y, width(&text), &text, theme.faint());
        pen.put(end + 1, area.y, width(&key), &key, theme.accent());
    }
    for (key, does) in hints_of(model) {
        let needed = width(&key) + width(does) + 1;
        if x + needed > end {
            break;
        }
        x = pen.put(x, area.y, width(&key), &key, theme.accent().remove_modifier(Modifier::BOLD));
        x = pen.put(x + 1, area.y, width(does), does, theme.faint()) + 2;
    }
}

fn hints_of(model: &Model) -> Vec<(String, &'static str)> {
    let fixed = |hints: &[(&str, &'static str)]| {
        hints.iter().map(|(key, does)| ((*key).to_owned(), *does)).collect()
    };
    let place = match &model.mode {
        Mode::List => Place::List,
        Mode::Asks { .. } => Place::Asks,
        Mode::Help { .. } => return fixed(&[("j k", "scroll"), ("any key", "closes")]),
        Mode::History => return fixed(&[("any key", "closes")]),
        Mode::Confirm { .. } => return fixed(&[("y", "yes"), ("n", "no")]),
        Mode::Send { .. } | Mode::AnswerWords { .. } => {
            return fixed(&[("enter", "send"), ("ctrl+j", "new line"), ("esc", "keep for later")]);
        }
        Mode::New(_) => {
            return fixed(&[
                ("enter", "start"),
                ("tab", "next field"),
                ("ctrl+j", "new line"),
                ("esc", "close"),
            ]);
        }
        Mode::Filter => return fixed(&[("enter", "keep"), ("esc", "clear")]),
        Mode::Palette { .. } => return fixed(&[("enter", "do it"), ("esc", "close")]),
    };
    let commands = if place == Place::Asks { ask_hints() } else { list_hints(model) };
    let keys = |(command, does): (Command, &'static str)| {
        Some((model.keys.keys_of(place, command)?, does))
    };
    commands.into_iter().filter_map(keys).collect()
}

fn ask_hints() -> Vec<(Command, &'static str)> {
    vec![
        (Command::Allow, "allow"),
        (Command::AllowForSession, "for the session"),
        (Command::Deny, "deny"),
        (Command::Send, "in words"),
        (Command::Attach, "attach"),
        (Command::Close, "back"),
    ]
}

/// What fits the session in hand comes first.
fn list_hints(model: &Model) -> Vec<(Command, &'static str)> {
    let mut hints = Vec::new();
    if count(model, &[Status::Waiting]) > 0 {
        hints.push((Command::Asks, "answer"));
    }
    match model.session() {
        None => hints.push((Command::New, "new session")),
        Some(session) => {
            hints.push((Command::Attach, "attach"));
            hints.push((Command::Send, "send"));
            if session.status == Status::Pausing {
                hints.push((Command::TogglePause, "cancel"));
            } else if session.can_resume {
                hints.push((Command::Resume, "resume"));
            } else if session.can_pause {
                hints.push((Command::TogglePause, "pause"));
            }
            hints.push((Command::New, "new"));
        }
    }
    hints.push((Command::Quit, "quit"));
    hints
}
