//! What is found by words: commands, and what was said in all conversations.

use super::field::{BOX_COLUMNS, edit};
use super::house::in_sight;
use super::layout::middle;
use super::pen::Pen;
use crate::editor::Editor;
use crate::model::{Model, Reading, SearchBox, since};
use crate::palette::found;
use glis_client::labels::Tone;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// The commands that fit, each with its keys.
pub(super) fn palette(model: &Model, pen: &mut Pen<'_>, area: Rect, words: &Editor, at: usize) {
    let theme = model.theme;
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let rows = 16.min(area.height.saturating_sub(2));
    let about = model.session().map_or_else(String::new, |session| format!(" · {}", session.name));
    let inner = pen.frame(middle(area, columns, rows), &format!("do{about}"));
    edit(pen, Rect { height: 1, ..inner }, words);
    let found = found(model, words.text());
    if found.is_empty() {
        pen.put(inner.x, inner.y + 2, inner.width, "no matches", theme.faint());
    }
    let below = Rect { y: inner.y + 2, height: inner.height.saturating_sub(2), ..inner };
    for (y, in_hand, found) in in_sight(&found, at, below, 1) {
        if in_hand {
            pen.tint(Rect { y, height: 1, ..inner }, theme.lifted());
        }
        pen.put(inner.x, y, inner.width.saturating_sub(12), &found.text(), theme.text());
        pen.put_right(inner.right(), y, 11, &found.keys, theme.accent());
    }
}

/// What was said, by whom, and the words around it.
pub(super) fn search(model: &Model, pen: &mut Pen<'_>, area: Rect, form: &SearchBox) {
    let theme = model.theme;
    let columns = area.width.saturating_sub(2).min(BOX_COLUMNS + 24);
    let rows = area.height.saturating_sub(2).min(24);
    let inner = pen.frame(middle(area, columns, rows), "find in all conversations");
    edit(pen, Rect { height: 1, ..inner }, &form.words);
    let say = |pen: &mut Pen<'_>, text: &str, style| {
        pen.put(inner.x, inner.y + 2, inner.width, text, style);
    };
    match &form.sought {
        Reading::Empty => say(pen, "words, then enter", theme.faint()),
        Reading::Loading => say(pen, "…", theme.faint()),
        Reading::Fault(told) => say(pen, &told.message, theme.tone(Tone::Bad)),
        Reading::Shown(hits) if hits.is_empty() => say(pen, "no matches", theme.faint()),
        Reading::Shown(_) => {}
    }
    // A hit takes two rows.
    let room = usize::from(inner.height.saturating_sub(2) / 2).max(1);
    let first = form.at.saturating_sub(room - 1);
    let rows = (inner.y + 2..inner.bottom().saturating_sub(1)).step_by(2);
    for (y, (number, hit)) in rows.zip(form.sought.items().iter().enumerate().skip(first)) {
        if number == form.at {
            pen.tint(Rect { y, height: 2, ..inner }, theme.lifted());
        }
        let bold = theme.text().add_modifier(Modifier::BOLD);
        let x = pen.put(inner.x, y, inner.width / 2, &hit.name, bold) + 2;
        let when = format!("{} · {}", super::pages::who(hit.voice), since(&hit.at, model.now));
        pen.put_to(x, y, inner.right(), &when, theme.faint());
        let snippet = hit.snippet.replace('\n', " ");
        let room = inner.width.saturating_sub(2);
        pen.put(inner.x + 2, y + 1, room, snippet.trim(), theme.text());
    }
}
