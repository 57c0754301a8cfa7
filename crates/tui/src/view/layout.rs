//! Where everything is: side by side where there is room, one above the other where not.

use crate::model::{Model, Zoom};
use ratatui_core::layout::Rect;

/// From this width on the list and the session stand side by side.
const WIDE: u16 = 100;
/// With fewer rows than this there is room for the list alone.
const TALL: u16 = 14;
/// As wide as names, states and a few words need; and where there is more room, numbers and branches beside
/// them.
const LIST_COLUMNS: (u16, u16) = (44, 112);
/// What an agent's own terminal is left where there is enough for both.
const DETAIL_COLUMNS: u16 = 100;

pub(super) struct Layout {
    pub(super) top: Rect,
    pub(super) body: Rect,
    pub(super) list: Rect,
    pub(super) detail: Option<Rect>,
    /// Below a question, for the words that are typed for it; without them it has no rows.
    pub(super) answer: Rect,
    pub(super) status: Rect,
    pub(super) notice: Rect,
    pub(super) hints: Rect,
}

impl Layout {
    pub(super) fn whole(model: &Model) -> Rect {
        Rect { x: 0, y: 0, width: model.size.0, height: model.size.1 }
    }

    /// That of the whole screen.
    pub(super) fn now(model: &Model) -> Self {
        Self::of(model, Self::whole(model))
    }

    pub(super) fn of(model: &Model, area: Rect) -> Self {
        let row = |y: u16| Rect { y, height: 1, ..area };
        let (top, hints) = (row(area.y), row(area.bottom().saturating_sub(1)));
        let notice_rows = super::notice::rows(model, area.width);
        // A small screen has no more than one to give.
        let notice_rows = if area.height < TALL { notice_rows.min(1) } else { notice_rows };
        let notice =
            Rect { height: notice_rows, ..row(area.bottom().saturating_sub(1 + notice_rows)) };
        let status_rows = u16::from(super::status::is_shown(model) && area.height >= TALL);
        let below = 1 + notice_rows + status_rows;
        let status = Rect { height: status_rows, ..row(area.bottom().saturating_sub(below)) };
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1 + below), ..area };
        let answer_rows = super::field::answer_rows(model, body.height);
        let answer = Rect { height: answer_rows, ..row(body.bottom().saturating_sub(answer_rows)) };
        let body = Rect { height: body.height - answer_rows, ..body };
        let (list, detail) = split(model, body);
        Self { top, body, list, detail, answer, status, notice, hints }
    }
}

/// An area of this size in the middle.
pub(super) fn middle(area: Rect, columns: u16, rows: u16) -> Rect {
    let (width, height) = (columns.min(area.width), rows.min(area.height));
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 3;
    Rect { x, y, width, height }
}

fn split(model: &Model, body: Rect) -> (Rect, Option<Rect>) {
    match model.pane.zoom {
        _ if model.list.lines.is_empty() => return (body, None),
        Zoom::List => return (body, None),
        Zoom::Full => {
            let x = body.x + 1;
            let detail = Rect { x, width: body.width.saturating_sub(1), ..body };
            return (Rect { width: 0, height: 0, ..body }, Some(detail));
        }
        Zoom::Half => {}
    }
    if body.width >= WIDE {
        let beside = body.width.saturating_sub(DETAIL_COLUMNS + 2);
        let columns = (body.width * 2 / 5).max(beside).clamp(LIST_COLUMNS.0, LIST_COLUMNS.1);
        let x = body.x + columns + 2;
        let list = Rect { width: columns, ..body };
        let detail = Rect { x, width: body.right().saturating_sub(x), ..body };
        return (list, Some(detail));
    }
    if body.height < TALL {
        return (body, None);
    }
    let lines = u16::try_from(model.list.lines.len()).unwrap_or(u16::MAX);
    let rows = lines.min(body.height * 2 / 5).max(3);
    let y = body.y + rows + 1;
    let list = Rect { height: rows, ..body };
    let height = body.bottom().saturating_sub(y);
    // One column of air, as the list has it.
    (list, Some(Rect { x: body.x + 1, y, width: body.width.saturating_sub(1), height }))
}
