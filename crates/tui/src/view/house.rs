//! Lists of the whole house: the trash, and what the rules have answered.

use super::field::BOX_COLUMNS;
use super::layout::middle;
use super::pen::{Pen, width};
use crate::message::Judged;
use crate::model::{Model, Reading, since};
use glis_client::labels::Tone;
use glis_wire::view::TrashView;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// The columns of an age, and a blank behind it.
const AGE_COLUMNS: u16 = 5;
/// Names longer than this are cut: when they go for good matters as well.
const NAME_COLUMNS: u16 = 32;

/// A list with a box around it, or why there is none. Returns where its items are drawn.
fn framed<T>(
    model: &Model,
    pen: &mut Pen<'_>,
    area: Rect,
    (title, empty): (&str, &str),
    (list, item_rows): (&Reading<Vec<T>>, u16),
) -> Rect {
    let theme = model.theme;
    let columns = area.width.saturating_sub(2).min(BOX_COLUMNS + 24);
    let wanted = u16::try_from(list.items().len()).unwrap_or(u16::MAX).saturating_mul(item_rows);
    let rows = wanted.max(1).saturating_add(2).min(area.height.saturating_sub(2));
    let inner = pen.frame(middle(area, columns, rows), title);
    let (text, style) = match list {
        Reading::Empty | Reading::Loading => ("…", theme.faint()),
        Reading::Fault(told) => (told.message.as_str(), theme.tone(Tone::Bad)),
        Reading::Shown(items) if items.is_empty() => (empty, theme.faint()),
        Reading::Shown(_) => return inner,
    };
    pen.put(inner.x, inner.y, inner.width, text, style);
    inner
}

/// The items that are in sight, each with its row and whether it is the one in hand.
pub(super) fn in_sight<T>(items: &[T], at: usize, area: Rect, rows: u16) -> Vec<(u16, bool, &T)> {
    let room = usize::from(area.height / rows).max(1);
    let first = at.saturating_sub(room - 1);
    let places = (area.y..area.bottom()).step_by(usize::from(rows)).take(room);
    let shown = items.iter().enumerate().skip(first);
    places.zip(shown).map(|(y, (number, item))| (y, number == at, item)).collect()
}

/// What was removed, and until when it is kept.
pub(super) fn trash(model: &Model, pen: &mut Pen<'_>, area: Rect, at: usize) {
    let theme = model.theme;
    let title = ("trash: nothing in it is deleted yet", "The trash is empty.");
    let inner = framed(model, pen, area, title, (&model.house.trash, 1));
    let items = model.house.trash.items();
    let names = items.iter().map(|item| width(&item.name)).max().unwrap_or(0);
    // A narrow box leaves the other half to when it goes for good.
    let names = names.min(NAME_COLUMNS).min(inner.width / 2);
    let at = at.min(items.len().saturating_sub(1));
    for (y, in_hand, item) in in_sight(items, at, inner, 1) {
        let row = Rect { y, height: 1, ..inner };
        let weight = if in_hand { Modifier::BOLD } else { Modifier::empty() };
        if in_hand {
            pen.tint(row, theme.lifted());
        }
        pen.put(row.x, y, names, &item.name, theme.text().add_modifier(weight));
        let x = row.x + names + 2;
        let label = model.work.latest_with(&item.id).map(|under_way| under_way.label.to_owned());
        let rest = label.unwrap_or_else(|| kept(model, item, row.right().saturating_sub(x)));
        pen.put(x, y, row.right().saturating_sub(x), &rest, theme.faint());
    }
}

/// How long ago it was removed and until when it is kept; its agent, where there is room.
fn kept(model: &Model, item: &TrashView, columns: u16) -> String {
    let until = item.deadline.get(..10).unwrap_or(&item.deadline);
    let until = if item.due { "due".to_owned() } else { format!("kept until {until}") };
    let ago = match since(&item.removed_at, model.now).as_str() {
        "now" => "removed just now".to_owned(),
        age => format!("removed {age} ago"),
    };
    let branch = item.branch.as_ref().map(|branch| format!(" · {branch}"));
    let long = format!("{ago} · {until} · {}{}", item.agent, branch.unwrap_or_default());
    let parts = [long, format!("{ago} · {until} · {}", item.agent), format!("{ago} · {until}")];
    parts.into_iter().find(|text| width(text) <= columns).unwrap_or(until)
}

/// What the rules have said, newest first, each with its reason.
pub(super) fn judged(model: &Model, pen: &mut Pen<'_>, area: Rect, at: usize) {
    let theme = model.theme;
    let title = ("what auto-yes answered", "No request was judged by rule.");
    let inner = framed(model, pen, area, title, (&model.house.judged, 2));
    let items = model.house.judged.items();
    let at = at.min(items.len().saturating_sub(1));
    for (y, in_hand, one) in in_sight(items, at, inner, 2) {
        if in_hand {
            pen.tint(Rect { y, height: 2, ..inner }, theme.lifted());
        }
        let Judged { at, name, text, says, tone, .. } = one;
        let (age, end) = (since(at, model.now), inner.x + AGE_COLUMNS - 1);
        pen.put_right(end, y, AGE_COLUMNS, &age, theme.faint());
        let bold = theme.text().add_modifier(Modifier::BOLD);
        let x = pen.put(inner.x + AGE_COLUMNS, y, inner.width / 3, name, bold) + 2;
        let text = text.replace('\n', " ");
        pen.put(x, y, inner.right().saturating_sub(x), &text, theme.text());
        let x = inner.x + AGE_COLUMNS;
        pen.put(x, y + 1, inner.right().saturating_sub(x), says, theme.tone(*tone));
    }
}
