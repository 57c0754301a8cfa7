//! The bars: how many need a person, what was just said, which keys fit the moment.

use super::pen::{Pen, width};
use crate::command::Command;
use crate::keymap::Place;
use crate::model::{Access, Link, Mode, Model, SPIN_MS};
use glis_client::labels::Tone;
use glis_core::Status;
use glis_wire::view::SessionRow;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

const WHEEL: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The mark of a session that rules answer for.
pub(super) const AUTO_YES: &str = "»";

/// The wheel as it stands.
pub(super) fn wheel(model: &Model) -> &'static str {
    let turn = usize::try_from(model.now.ms / SPIN_MS).unwrap_or(0);
    WHEEL.get(turn % WHEEL.len()).copied().unwrap_or("·")
}

pub(super) fn top(model: &Model, pen: &mut Pen<'_>, area: Rect, place: Option<usize>) {
    let theme = model.theme;
    pen.tint(area, theme.lifted());
    let lifted = theme.lifted();
    let mut x = pen.put(area.x + 1, area.y, area.width, "glis", theme.accent().patch(lifted)) + 2;
    let counts = [
        (count(model, &[Status::Waiting]), "waiting", Tone::Attention),
        (count(model, &[Status::Failed, Status::Interrupted]), "failed", Tone::Bad),
        (count(model, &[Status::Busy, Status::Resuming, Status::Pausing]), "busy", Tone::Good),
        (
            model.rows.all.len(),
            if model.rows.all.len() == 1 { "session" } else { "sessions" },
            Tone::Faint,
        ),
        (model.rows.more, "more at rest", Tone::Faint),
    ];
    let all = || model.rows.all.values();
    let auto_yes = all().filter(|session| session.auto_yes).count();
    let cost: f64 = all().filter_map(|session| session.cost?.usd).sum();
    let right = state(model);
    let room = area.right().saturating_sub(width(&right.0) + 2);
    for (number, word, tone) in counts {
        let place = place.filter(|_| word == "sessions");
        let place = place.map_or_else(String::new, |place| format!("{}/", place + 1));
        let text = format!("{place}{number} {word}");
        if number == 0 && word != "sessions" || x + width(&text) >= room {
            continue;
        }
        x = pen.put(x, area.y, width(&text), &text, theme.tone(tone).patch(lifted)) + 2;
    }
    let text = format!("${cost:.2}");
    if cost > 0.0 && x + width(&text) < room {
        x = pen.put(x, area.y, width(&text), &text, theme.faint().patch(lifted)) + 2;
    }
    let text = format!("{AUTO_YES} {auto_yes} auto-yes");
    if auto_yes > 0 && x + width(&text) < room {
        pen.put(x, area.y, width(&text), &text, theme.tone(Tone::Attention).patch(lifted));
    }
    let style = theme.tone(right.1).patch(lifted);
    pen.put_right(area.right().saturating_sub(1), area.y, area.width / 2, &right.0, style);
}

fn count(model: &Model, statuses: &[Status]) -> usize {
    let counts = |s: &&SessionRow| statuses.contains(&s.status) && s.snoozed_until.is_none();
    model.rows.all.values().filter(counts).count()
}

/// What is to be known about all of it.
fn state(model: &Model) -> (String, Tone) {
    let house = model.work.under_way.values().find(|under_way| under_way.id.is_none());
    if let Link::Lost(_) = &model.house.link {
        return (format!("{} no daemon, trying again", wheel(model)), Tone::Bad);
    }
    if model.house.link == Link::Stopped {
        let key = model.key(Place::List, Command::Attach);
        return (format!("daemon stopped, {key} starts it"), Tone::Bad);
    }
    if model.house.link == Link::Connecting {
        return ("connecting".to_owned(), Tone::Faint);
    }
    if let Some(under_way) = house {
        return (format!("{} {}", wheel(model), under_way.label), Tone::Attention);
    }
    match model.house.gate.as_str() {
        "paused" if model.house.access == Access::ReadOnly => {
            ("⏸ PAUSED  read-only".to_owned(), Tone::Attention)
        }
        "paused" => {
            let key = model.key(Place::List, Command::ResumeAll);
            (format!("⏸ PAUSED  {key} resumes all"), Tone::Attention)
        }
        "pausing" => (format!("{} PAUSING...", wheel(model)), Tone::Attention),
        _ if model.house.access == Access::ReadOnly => ("read-only".to_owned(), Tone::Calm),
        _ => (String::new(), Tone::Faint),
    }
}

/// The last row: keys that fit the moment, or who has them.
pub(super) fn hints(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    if let Mode::Inline { id } = &model.mode {
        let style = theme.tone(Tone::Attention).add_modifier(Modifier::REVERSED | Modifier::BOLD);
        let text = banner(model, id);
        pen.tint(area, style);
        pen.put(area.x + 1, area.y, area.width.saturating_sub(2), &text, style);
        return;
    }
    if let Some(prefix) = &model.keyboard.prefix {
        let keys = prefix.keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let toggle = model.key(Place::List, Command::TogglePause);
        let second = toggle.strip_prefix(&keys).map(|rest| format!("{rest} pause"));
        let text = format!("{keys} … {}", second.unwrap_or_default());
        pen.put(area.x + 1, area.y, area.width.saturating_sub(2), &text, theme.accent());
        return;
    }
    for Hint { x, key, does } in hint_places(model, area) {
        let x =
            pen.put(x, area.y, width(&key), &key, theme.accent().remove_modifier(Modifier::BOLD));
        pen.put(x + 1, area.y, width(does), does, theme.faint());
    }
}

fn banner(model: &Model, id: &str) -> String {
    let name = model.name_of(id).unwrap_or(id);
    let back = model.keys.keys_of(Place::Inline, Command::Close).unwrap_or_default();
    let of_it = model.pane.preview.session.as_deref() == Some(id);
    if of_it && model.pane.preview.live().is_some() {
        return format!("YOUR KEYS GO TO {name}  ·  {back} takes them back");
    }
    format!("nothing runs in {name}: keys are not typed  ·  {back} takes them back")
}

/// A key in the last row, and where it is.
struct Hint {
    x: u16,
    key: String,
    does: &'static str,
}

fn hint_places(model: &Model, area: Rect) -> Vec<Hint> {
    let mut end = area.right();
    let mut hints = Vec::new();
    // How to find the rest is always there.
    let help = model.keys.keys_of(Place::List, Command::Help);
    if let Some(key) = help.filter(|_| model.mode.place().is_some()) {
        let does = "keys";
        end = end.saturating_sub(width(&key) + 1 + width(does) + 2);
        hints.push(Hint { x: end + 1, key, does });
    }
    let mut x = area.x + 1;
    for (key, does) in super::hints::hints(model) {
        let needed = width(&key) + width(does) + 1;
        if x + needed > end {
            break;
        }
        hints.push(Hint { x, key, does });
        x += needed + 2;
    }
    hints
}

/// The keys that are written at this column of the last row.
pub(super) fn keys_at(model: &Model, area: Rect, column: u16) -> Option<String> {
    if let Mode::Inline { .. } = model.mode {
        return model.keys.keys_of(Place::Inline, Command::Close);
    }
    let hit =
        |hint: &Hint| (hint.x..hint.x + width(&hint.key) + 1 + width(hint.does)).contains(&column);
    hint_places(model, area).into_iter().find(hit).map(|hint| hint.key)
}
