//! The model as a picture: a pure function of it. Every text from outside is made harmless first.

mod asks;
mod bars;
mod course;
mod detail;
mod field;
mod finder;
mod help;
mod hints;
mod house;
mod layout;
mod list;
mod new;
mod notice;
mod overlay;
mod pages;
mod patched;
mod pen;
mod plan;
mod question;
mod rule;
mod status;
mod terminal;

pub(crate) use asks::AskRows;
#[cfg(test)]
pub(crate) use pen::{cuts, overlaps};
pub(crate) use question::{choices, keys_for, takes, takes_words};

use crate::message::{Fetched, Tab};
use crate::model::{Drag, LaidFor, Mode, Model, Sheet};
use layout::Layout;
use pen::Pen;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use std::ops::Range;
use unicode_width::UnicodeWidthStr as _;

/// Below this nothing sensible can be shown.
const LEAST: (u16, u16) = (20, 4);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Session(String),
    Tab(Tab),
    /// A cell of the session's own terminal.
    Screen {
        column: u16,
        row: u16,
    },
    Detail,
    /// A question, by its session and request.
    Ask(String, String),
    /// These keys are written there: pointing at them presses them.
    Keys(String),
}

/// Draws the model. Returns the place of the cursor, where there is one.
pub(crate) fn draw(model: &Model, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let area = buffer.area;
    let mut pen = Pen::new(buffer, model.theme);
    if is_too_small(area) {
        let theme = model.theme;
        pen.put(area.x, area.y, area.width, "too small", theme.text());
        return None;
    }
    let layout = Layout::of(model, area);
    let (seen, lines) = list::seen(model, layout.list);
    // Which of them is in hand, where not all are seen.
    let place = model.place().filter(|_| seen.len() < lines);
    bars::top(model, &mut pen, layout.top, place);
    if matches!(model.mode, Mode::Asks { .. }) || model.mode.shown_ask().is_some() {
        asks::draw(model, &mut pen, layout.body);
    } else {
        list::draw(model, &mut pen, layout.list);
        rule::draw(model, &mut pen, &layout);
        if let Some(area) = layout.detail {
            detail::draw(model, &mut pen, area);
        }
    }
    status::draw(model, &mut pen, layout.status);
    notice::draw(model, &mut pen, layout.notice);
    bars::hints(model, &mut pen, layout.hints);
    overlay::draw(model, &mut pen, area);
    if let (Some(drag), Some(content)) = (model.drag, content(model)) {
        each_dragged(drag, content, |x, y| {
            let cell = Rect { x, y, width: 1, height: 1 };
            pen.tint(cell, Style::new().add_modifier(Modifier::REVERSED));
        });
    }
    pen.cursor
}

fn is_too_small(area: Rect) -> bool {
    area.width < LEAST.0 || area.height < LEAST.1
}

pub(crate) fn target(model: &Model, column: u16, row: u16) -> Option<Target> {
    let layout = Layout::now(model);
    let within = |area: Rect| area.contains((column, row).into());
    if within(layout.hints) {
        return bars::keys_at(model, layout.hints, column).map(Target::Keys);
    }
    match model.mode {
        Mode::List | Mode::Filter | Mode::Inline { .. } | Mode::Past { .. } | Mode::View { .. } => {
        }
        Mode::Asks { .. } => {
            return asks::at(model, layout.body, row).map(|(id, ask)| Target::Ask(id, ask));
        }
        _ => return None,
    }
    if within(layout.list) {
        return list::at(model, layout.list, row).map(Target::Session);
    }
    let detail = layout.detail.filter(|area| within(*area))?;
    if let Some(tab) = detail::tab_at(model, detail, column, row) {
        return Some(Target::Tab(tab));
    }
    let content = detail::content(model, detail);
    let cell = (model.shown_tab() == Tab::Terminal && within(content))
        .then(|| terminal::cell_at(model, content, column, row))
        .flatten();
    Some(cell.map_or(Target::Detail, |(column, row)| Target::Screen { column, row }))
}

/// The place of what is shown of the session in hand, if there is one.
pub(crate) fn content(model: &Model) -> Option<Rect> {
    Layout::now(model).detail.map(|area| detail::content(model, area))
}

/// The text of what is shown of the session in hand, line by line.
pub(crate) fn shown_text(model: &Model) -> Vec<String> {
    let Some(area) = content(model) else { return Vec::new() };
    if let Some(mut rows) =
        terminal::whole_rows(model, area).filter(|_| model.shown_tab() == Tab::Terminal)
    {
        let filled = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        rows.truncate(filled);
        return rows;
    }
    let last = (area.right().saturating_sub(1), area.bottom().saturating_sub(1));
    let mut lines = text_between(model, Drag { from: (area.x, area.y), to: last });
    let filled = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.truncate(filled);
    lines
}

/// The text that the mouse was drawn over, line by line.
pub(crate) fn text_between(model: &Model, drag: Drag) -> Vec<String> {
    let Some(content) = content(model) else { return Vec::new() };
    let mut buffer = Buffer::empty(Layout::whole(model));
    draw(model, &mut buffer);
    let mut lines: Vec<(u16, String)> = Vec::new();
    let mut hidden = 0;
    each_dragged(drag, content, |x, y| {
        if lines.last().is_none_or(|(known, _)| *known != y) {
            lines.push((y, String::new()));
            hidden = 0;
        }
        let Some(cell) = buffer.cell((x, y)) else { return };
        // The second half of a wide character holds nothing.
        if hidden > 0 {
            hidden -= 1;
        } else if let Some((_, line)) = lines.last_mut() {
            line.push_str(cell.symbol());
            hidden = cell.symbol().width().saturating_sub(1);
        }
    });
    lines.into_iter().map(|(_, line)| line.trim_end().to_owned()).collect()
}

/// Every cell between two places, row by row, as texts run.
fn each_dragged(Drag { from, to }: Drag, area: Rect, mut see: impl FnMut(u16, u16)) {
    if area.width == 0 || area.height == 0 {
        return;
    }
    let within = |(x, y): (u16, u16)| {
        (y.clamp(area.y, area.bottom() - 1), x.clamp(area.x, area.right() - 1))
    };
    let (one, other) = (within(from), within(to));
    let (first, last) = (one.min(other), one.max(other));
    for y in first.0..=last.0 {
        let begin = if y == first.0 { first.1 } else { area.x };
        let end = if y == last.0 { last.1 } else { area.right() - 1 };
        for x in begin..=end {
            see(x, y);
        }
    }
}

pub(crate) fn sessions_in_sight(model: &Model) -> Vec<String> {
    list::in_sight(model, Layout::now(model).list)
}

/// What of the question in hand is on the screen.
pub(crate) fn ask_rows(model: &Model) -> AskRows {
    let whole = Layout::whole(model);
    let rows = asks::in_sight(model, Layout::of(model, whole).body);
    if is_too_small(whole) { AskRows { shown: 0..0, ..rows } } else { rows }
}

/// Lays a page out, or what is new of it.
pub(crate) fn lay(former: Sheet, fetched: &Fetched, laid_for: LaidFor, model: &Model) -> Sheet {
    pages::lay(former, fetched, laid_for, model)
}

/// The rows of the page that are seen, where a page is shown.
pub(crate) fn rows_in_sight(model: &Model) -> Option<Range<usize>> {
    let area = content(model).filter(|_| model.shown_tab() != Tab::Terminal)?;
    let first = model.pane.scroll.min(scroll_max(model));
    Some(first..first + usize::from(area.height))
}

/// How far what is shown of the session in hand can be scrolled.
pub(crate) fn scroll_max(model: &Model) -> usize {
    Layout::now(model).detail.map_or(0, |area| detail::scroll_max(model, area))
}
