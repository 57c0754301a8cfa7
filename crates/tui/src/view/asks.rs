//! Everything that is asked, the question in hand whole, answered by one key.

use super::pen::{Pen, beginning, width};
use super::question;
use crate::command::Command;
use crate::keymap::Place;
use crate::model::{InHand, Model, folder_of, since};
use glis_client::labels::Tone;
use glis_wire::view::{SessionRow, WaitingFor};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use std::ops::Range;

/// As much is told of a question that is not open any more.
const CLOSED_ROWS: usize = 3;

/// Who asks.
struct Who<'m> {
    name: &'m str,
    agent: &'m str,
    repo: &'m str,
    /// For how long; nothing where it is over.
    age: String,
}

enum Row<'m> {
    /// A question in short.
    Open { session: &'m SessionRow, ask: &'m WaitingFor, in_hand: bool },
    /// The question in hand, which is not open any more.
    Closed(&'m InHand),
    /// A line of the question in hand.
    Text(String, Style),
}

/// All rows, and which of them are in sight.
struct Sheet<'m> {
    rows: Vec<Row<'m>>,
    /// The rows of the question in hand that have to be seen.
    own: Range<usize>,
    first: usize,
    /// How far it can be scrolled.
    most: usize,
}

/// What of the question in hand is on the screen.
pub(crate) struct AskRows {
    /// How many rows of it have to be seen.
    pub(crate) all: usize,
    pub(crate) shown: Range<usize>,
    /// As many rows as a key goes on.
    pub(crate) page: usize,
    /// How far it can be scrolled.
    pub(crate) most: usize,
}

/// All questions, oldest first, the one in hand whole. One that has gone keeps its place.
fn sheet(model: &Model, area: Rect) -> Sheet<'_> {
    let at = model.mode.shown_ask();
    let columns = area.width.saturating_sub(6);
    let (mut rows, mut own, mut in_hand_rows) = (Vec::new(), 0..0, 0..0);
    let closed = model.closed_ask().filter(|own| at.is_some_and(|at| own.is(at)));
    let asks = model.rows.asks();
    let place = closed.map(|closed| closed.place.min(asks.len()));
    for number in 0..=asks.len() {
        if let Some(closed) = closed.filter(|_| place == Some(number)) {
            let head = rows.len();
            rows.push(Row::Closed(closed));
            let text = beginning(&closed.ask.text, columns, CLOSED_ROWS);
            let faint = model.theme.faint();
            rows.extend(text.into_iter().map(|line| Row::Text(line, faint)));
            rows.push(Row::Text(next_step(model, asks.len()), faint));
            in_hand_rows = head..rows.len();
        }
        let Some((session, ask)) = asks.get(number).copied() else { continue };
        let in_hand = at == Some((session.id.as_str(), ask.request.as_str()));
        rows.push(Row::Open { session, ask, in_hand });
        if in_hand {
            let whole = question::whole(model, (session, ask), columns);
            own = rows.len()..rows.len() + whole.len();
            let around = question::around(model, (session, ask), columns);
            let lines = whole.into_iter().chain(around);
            rows.extend(lines.map(|(text, style)| Row::Text(text, style)));
            in_hand_rows = own.start - 1..rows.len();
        }
    }
    let height = usize::from(area.height);
    // A question that does not fit below the others begins at the top.
    let base = if in_hand_rows.end > height { in_hand_rows.start } else { 0 };
    let last = rows.len().saturating_sub(height);
    let most = last.saturating_sub(base);
    let first = (base + model.hand.ask_scroll.min(most)).min(last);
    Sheet { rows, own, first, most }
}

/// What to press where the question in hand has gone.
fn next_step(model: &Model, others: usize) -> String {
    let (next, back) =
        (model.key(Place::Asks, Command::Down), model.key(Place::Asks, Command::Close));
    match others {
        0 => format!("nothing else waits for you; {back} goes back"),
        _ => format!("{next} goes to the next question"),
    }
}

/// What of the question in hand is on the screen. The mark in the last row hides what is below it.
pub(super) fn in_sight(model: &Model, area: Rect) -> AskRows {
    let Sheet { own, first, most, .. } = sheet(model, area);
    let height = usize::from(area.height);
    let hidden = usize::from(is_cut(model, most));
    let place = |row: usize| row.clamp(own.start, own.end) - own.start;
    let shown = place(first)..place(first + height.saturating_sub(hidden));
    AskRows { all: own.len(), shown, page: height.saturating_sub(2).max(1), most }
}

/// Whether there is more below.
fn is_cut(model: &Model, most: usize) -> bool {
    model.hand.ask_scroll < most
}

pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    let Sheet { rows, first, most, .. } = sheet(model, area);
    if rows.is_empty() {
        let text = if model.rows.asks_are_coming() { "…" } else { "Nothing waits for you." };
        pen.put(area.x + 1, area.y + 1, area.width, text, theme.faint());
        return;
    }
    for (y, row) in (area.y..area.bottom()).zip(rows.into_iter().skip(first)) {
        let place = Rect { y, height: 1, ..area };
        match row {
            Row::Open { session, ask, in_hand } => {
                let answering = model.work.is_answering(&session.id, &ask.request);
                let text = if answering {
                    "answering".to_owned()
                } else if in_hand {
                    question::kind(ask.kind).to_owned()
                } else {
                    question::in_short(session, ask)
                };
                let since_when = ask.since.as_ref().unwrap_or(&session.last_active_at);
                let age = since(since_when, model.now);
                let who = Who {
                    name: &session.name,
                    agent: &session.agent,
                    repo: &session.repo_root,
                    age,
                };
                head(model, pen, place, in_hand, ("?", &who, &text));
            }
            Row::Closed(closed) => {
                let who = Who {
                    name: &closed.name,
                    agent: &closed.agent,
                    repo: &closed.repo,
                    age: String::new(),
                };
                head(model, pen, place, true, ("·", &who, &model.work.ending_of(closed)));
            }
            Row::Text(text, style) => {
                pen.put(area.x + 4, y, area.width.saturating_sub(5), &text, style);
            }
        }
    }
    if is_cut(model, most) {
        let more = model.key(Place::Asks, Command::ScrollDown);
        let below = format!("↓ {} more, {more}", most - model.hand.ask_scroll);
        pen.put_over(area.right(), area.bottom().saturating_sub(1), 24, &below, theme.accent());
    }
}

/// The question in this row, by its session and request.
pub(super) fn at(model: &Model, area: Rect, row: u16) -> Option<(String, String)> {
    let Sheet { rows, first, .. } = sheet(model, area);
    let place = first + usize::from(row.checked_sub(area.y)?);
    // A line of a question belongs to the head above it.
    let mut above = rows.into_iter().take(place + 1).collect::<Vec<_>>().into_iter().rev();
    above.find_map(|row| match row {
        Row::Open { session, ask, .. } => Some((session.id.clone(), ask.request.clone())),
        Row::Closed(closed) => Some((closed.id.clone(), closed.ask.request.clone())),
        Row::Text(..) => None,
    })
}

fn head(
    model: &Model,
    pen: &mut Pen<'_>,
    row: Rect,
    in_hand: bool,
    (mark, who, text): (&str, &Who<'_>, &str),
) {
    let theme = model.theme;
    if in_hand {
        pen.tint(row, theme.lifted());
        pen.put(row.x, row.y, 1, "▌", theme.accent());
    }
    pen.put(row.x + 2, row.y, 1, mark, theme.tone(Tone::Attention));
    let bold = theme.text().add_modifier(Modifier::BOLD);
    let x = pen.put(row.x + 4, row.y, row.width / 3, who.name, bold) + 2;
    let x = pen.put(x, row.y, 9, who.agent, theme.faint()) + 2;
    // Who asks, how long, and where, as far as the words leave room; how long always.
    let repo = format!("{}  {}", folder_of(who.repo), who.age);
    let fits = x + width(text) + width(&repo) + 3 <= row.right();
    let told = if fits { repo.trim_end() } else { &who.age };
    let end = row.right().saturating_sub(1);
    pen.put_right(end, row.y, width(told), told, theme.faint());
    pen.put_to(x, row.y, end.saturating_sub(width(told) + 1), text, theme.text());
}
