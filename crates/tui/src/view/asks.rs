//! Everything that is asked, whole, answered by one key.

use super::pen::{Pen, width, wrapped};
use crate::model::{Mode, Model};
use glis_client::labels::Tone;
use glis_core::talk::AskKind;
use glis_core::verdict::Want;
use glis_wire::view::{SessionView, WaitingFor};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

/// Draws it: the question in hand whole, the others in a line each.
pub(super) fn draw(model: &Model, at: Option<&(String, String)>, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    let asks = model.asks();
    if asks.is_empty() {
        let text = if model.asks_are_coming() { "…" } else { "Nothing waits for you." };
        pen.put(area.x + 1, area.y + 1, area.width, text, theme.faint());
        return;
    }
    let mut y = area.y;
    for (session, ask) in asks {
        if y >= area.bottom() {
            break;
        }
        let in_hand = at.is_some_and(|(id, request)| *id == session.id && *request == ask.request);
        let row = Rect { y, height: 1, ..area };
        head(model, pen, row, (session, ask), in_hand);
        y += 1;
        if in_hand {
            for (text, style) in whole(model, session, ask, area.width.saturating_sub(6)) {
                if y >= area.bottom() {
                    break;
                }
                pen.put(area.x + 4, y, area.width.saturating_sub(5), &text, style);
                y += 1;
            }
        }
    }
}

/// The question in this row, by its session and request.
pub(super) fn at(model: &Model, area: Rect, row: u16) -> Option<(String, String)> {
    let Mode::Asks { at } = &model.mode else { return None };
    let mut y = area.y;
    for (session, ask) in model.asks() {
        let in_hand =
            at.as_ref().is_some_and(|(id, request)| *id == session.id && *request == ask.request);
        let rows = if in_hand {
            whole(model, session, ask, area.width.saturating_sub(6)).len()
        } else {
            0
        };
        let next = y.saturating_add(1).saturating_add(u16::try_from(rows).unwrap_or(u16::MAX));
        if (y..next).contains(&row) {
            return Some((session.id.clone(), ask.request.clone()));
        }
        y = next;
    }
    None
}

fn head(
    model: &Model,
    pen: &mut Pen<'_>,
    row: Rect,
    (session, ask): (&SessionView, &WaitingFor),
    in_hand: bool,
) {
    let theme = model.theme;
    if in_hand {
        pen.tint(row, theme.lifted());
        pen.put(row.x, row.y, 1, "▌", theme.accent());
    }
    pen.put(row.x + 2, row.y, 1, "?", theme.tone(Tone::Attention));
    let bold = theme.text().add_modifier(Modifier::BOLD);
    let x = pen.put(row.x + 4, row.y, row.width / 3, &session.name, bold) + 2;
    let x = pen.put(x, row.y, 9, &session.agent, theme.faint()) + 2;
    let answering = model.under_way_with(&session.id).map(|under_way| under_way.label);
    let text = answering.unwrap_or(if in_hand { kind(ask.kind) } else { &ask.text });
    pen.put(x, row.y, row.right().saturating_sub(x + 1), text, theme.text());
}

fn kind(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Approval => "wants to be allowed",
        AskKind::Question => "asks",
        AskKind::Doubt => "was this message taken? y sends it again, n drops it",
    }
}

fn whole(
    model: &Model,
    session: &SessionView,
    ask: &WaitingFor,
    columns: u16,
) -> Vec<(String, Style)> {
    let theme = model.theme;
    let mut lines: Vec<(String, Style)> = vec![(String::new(), theme.text())];
    let text = wrapped(&ask.text, columns);
    lines.extend(text.into_iter().map(|line| (line, theme.text())));
    match &ask.wants {
        Some(Want::Command { line, folder }) => {
            lines.push((String::new(), theme.text()));
            let shown = wrapped(line, columns.saturating_sub(2));
            lines.extend(shown.into_iter().map(|line| (format!("$ {line}"), theme.accent())));
            lines.extend(folder.iter().map(|folder| (format!("in {folder}"), theme.faint())));
        }
        Some(Want::Edit { paths }) => {
            lines.push((String::new(), theme.text()));
            lines.extend(paths.iter().map(|path| (format!("✎ {path}"), theme.accent())));
        }
        None => {}
    }
    lines.push((String::new(), theme.text()));
    lines.push((keys_for(session, ask), theme.faint()));
    lines.push((String::new(), theme.text()));
    lines.retain(|(text, _)| width(text) <= columns.saturating_add(4) || !text.is_empty());
    lines
}

/// What can be pressed for it.
fn keys_for(session: &SessionView, ask: &WaitingFor) -> String {
    match (ask.kind, ask.choices.as_deref()) {
        (AskKind::Doubt, _) => "y sends it again · n drops it".to_owned(),
        (_, Some([])) => format!("only at its own terminal: enter attaches to {}", session.name),
        (AskKind::Question, Some(choices)) => format!("s answers: {}", choices.join(" | ")),
        (AskKind::Question, None) => "s answers in words".to_owned(),
        (AskKind::Approval, _) => "y once · Y for the session · n deny".to_owned(),
    }
}
