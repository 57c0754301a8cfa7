//! What was just said, with its next step; or what the list is filtered by.

use super::pen::{Pen, width, wrapped};
use crate::model::{Kind, Mode, Model, Notice};
use crate::theme::Theme;
use glis_client::labels::Tone;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// As many rows as a notice takes at most; the list needs the rest.
const ROWS_MAX: usize = 6;

type Row = Vec<(String, Style)>;

pub(super) fn rows(model: &Model, columns: u16) -> u16 {
    let typed = matches!(
        model.mode,
        Mode::Filter | Mode::Past { words: Some(_) } | Mode::View { words: Some(_) }
    );
    match &model.notice {
        Some(notice) if !typed => {
            let rows = lines(notice, columns, model.theme).len();
            u16::try_from(rows).unwrap_or(1)
        }
        Some(_) => 1,
        None => u16::from(typed || !model.list.filter.text().is_empty()),
    }
}

/// A notice in one row where it fits, else the next step below what happened.
fn lines(notice: &Notice, columns: u16, theme: Theme) -> Vec<Row> {
    let (mark, tone) = match notice.kind {
        Kind::Done | Kind::Answered => ("✓", Tone::Good),
        Kind::Said => ("·", Tone::Calm),
        Kind::Wrong => ("✗", Tone::Bad),
    };
    let (said, faint) = (theme.tone(tone), theme.faint());
    let text = format!("{mark} {}", notice.told.message.replace('\n', " "));
    let room = columns.saturating_sub(2);
    let hint = notice.told.hint.as_deref().unwrap_or_default().replace('\n', " ");
    let between = if hint.is_empty() { 0 } else { 2 };
    if width(&text) + between + width(&hint) <= room {
        let hint = if hint.is_empty() { hint } else { format!("  {hint}") };
        return vec![vec![(text, said), (hint, faint)]];
    }
    let said = wrapped(&text, room).into_iter().map(|line| vec![(line, said)]);
    let hint = wrapped(&hint, room.saturating_sub(2)).into_iter();
    said.chain(hint.map(|line| vec![(format!("  {line}"), faint)])).take(ROWS_MAX).collect()
}

pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    let theme = model.theme;
    let room = area.width.saturating_sub(2);
    if let Mode::Past { words: Some(words) } | Mode::View { words: Some(words) } = &model.mode {
        let x = pen.put(area.x + 1, area.y, room, "/", theme.accent());
        pen.put(x, area.y, room.saturating_sub(1), words.text(), theme.text());
        return;
    }
    if let (Some(notice), false) = (&model.notice, model.mode == Mode::Filter) {
        for (y, row) in (area.y..area.bottom()).zip(lines(notice, area.width, theme)) {
            let mut x = area.x + 1;
            for (text, style) in row {
                x = pen.put(x, y, (area.x + 1 + room).saturating_sub(x), &text, style);
            }
        }
        return;
    }
    let x = pen.put(area.x + 1, area.y, room, "/", theme.accent());
    let x = pen.put(x, area.y, room.saturating_sub(1), model.list.filter.text(), theme.text());
    let all = format!("{} of {}", model.list.ids().count(), model.rows.all.len());
    let x = pen.put(x + 2, area.y, area.right().saturating_sub(x + 2), &all, theme.faint());
    let saved = model.list.saved.told().filter(|_| model.mode == Mode::Filter);
    pen.put_to(x + 2, area.y, area.right(), &saved.unwrap_or_default(), theme.faint());
}
