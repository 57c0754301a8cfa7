//! The model as a picture: a pure function of it. Every text from outside is made harmless first.

mod asks;
mod bars;
mod detail;
mod help;
mod layout;
mod list;
mod overlay;
mod pages;
mod pen;
mod terminal;

use crate::message::Tab;
use crate::model::{Mode, Model};
use layout::Layout;
use pen::Pen;
use ratatui_core::buffer::Buffer;

/// Below this nothing sensible can be shown.
const LEAST: (u16, u16) = (20, 4);

/// What is at a place of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Session(String),
    Tab(Tab),
    Detail,
}

/// Draws the model. Returns the place of the cursor, where there is one.
pub(crate) fn draw(model: &Model, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let area = buffer.area;
    let mut pen = Pen::new(buffer, model.theme);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let theme = model.theme;
        pen.put(area.x, area.y, area.width, "too small", theme.text());
        return None;
    }
    let layout = Layout::of(model, area);
    bars::top(model, &mut pen, layout.top);
    if let Mode::Asks { at } = &model.mode {
        asks::draw(model, at.as_ref(), &mut pen, layout.body);
    } else {
        list::draw(model, &mut pen, layout.list);
        layout.draw_rule(model, &mut pen);
        if let Some(area) = layout.detail {
            detail::draw(model, &mut pen, area);
        }
    }
    bars::notice(model, &mut pen, layout.notice);
    bars::hints(model, &mut pen, layout.hints);
    overlay::draw(model, &mut pen, area)
}

/// What is at this place.
pub(crate) fn target(model: &Model, column: u16, row: u16) -> Option<Target> {
    let layout = Layout::of(model, Layout::whole(model));
    if !matches!(model.mode, Mode::List | Mode::Filter) {
        return None;
    }
    let within = |area: ratatui_core::layout::Rect| area.contains((column, row).into());
    if within(layout.list) {
        return list::at(model, layout.list, row).map(Target::Session);
    }
    let detail = layout.detail.filter(|area| within(*area))?;
    Some(detail::tab_at(model, detail, column, row).map_or(Target::Detail, Target::Tab))
}

/// How far what is shown of the session in hand can be scrolled.
pub(crate) fn scroll_max(model: &Model) -> usize {
    let layout = Layout::of(model, Layout::whole(model));
    layout.detail.map_or(0, |area| detail::scroll_max(model, area))
}
