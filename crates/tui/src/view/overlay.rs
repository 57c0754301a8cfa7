//! Boxes over everything else: a question, a text, a choice.

use super::field::{BOX_COLUMNS, WORDS_ROWS, edit, text_rows};
use super::layout::{Layout, middle};
use super::pen::{Pen, ending, width, wrapped};
use super::{finder, help, house, new, plan};
use crate::deed::Deed;
use crate::editor::Editor;
use crate::model::{End, FileBox, Mode, Model, Sure, WordsBox};
use glis_client::labels::Tone;
use ratatui_core::layout::Rect;

pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    match &model.mode {
        Mode::List
        | Mode::Asks { .. }
        | Mode::Past { words: None }
        | Mode::View { words: None }
        | Mode::Pick { .. } => {}
        Mode::Past { words: Some(words) } | Mode::View { words: Some(words) } => {
            pen.cursor = bottom_cursor(words, area);
        }
        Mode::Inline { .. } => {
            let content = super::content(model);
            pen.cursor = content.and_then(|area| super::terminal::cursor_at(model, area));
        }
        Mode::Help { scroll, behind, words } => {
            let words = words.as_ref().map(Editor::text);
            help::draw(model, pen, area, (*scroll, behind, words));
        }
        Mode::Filter => pen.cursor = bottom_cursor(&model.list.filter, area),
        Mode::Confirm { question, sure } => {
            let keys = match sure {
                Sure::Each { deed: Deed::Restart { with_context: false }, .. } => {
                    "y yes   c yes, told what was done   n no"
                }
                Sure::Each { .. } | Sure::Call { .. } | Sure::Undo { .. } => "y yes   n no",
            };
            confirm(model, pen, area, question, keys);
        }
        Mode::Send { id, files } => {
            let name = model.name_of(id).unwrap_or(id);
            let empty = Editor::default();
            let draft = model.drafts.texts.get(id).unwrap_or(&empty);
            let place = place(model, area, text_rows(draft, files));
            text_box(pen, place, &format!("message to {name}"), draft, files);
        }
        Mode::File(form) => file(model, pen, area, form),
        Mode::New(form) => new::draw(model, pen, area, form),
        Mode::Plan(form) => plan::draw(model, pen, area, form),
        Mode::Palette { words, at } => finder::palette(model, pen, area, words, *at),
        Mode::Search(form) => finder::search(model, pen, area, form),
        Mode::Trash { at } => house::trash(model, pen, area, *at),
        Mode::Judged { at } => house::judged(model, pen, area, *at),
        Mode::Words(form) => words(model, pen, area, form),
        Mode::History { words } => history(model, pen, area, words.text()),
    }
}

fn bottom_cursor(words: &Editor, area: Rect) -> Option<(u16, u16)> {
    let x = area.x + 2 + width(words.text());
    let row = area.bottom().checked_sub(2)?;
    (x < area.right()).then_some((x, row))
}

fn confirm(model: &Model, pen: &mut Pen<'_>, area: Rect, question: &str, keys: &str) {
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let lines = wrapped(question, columns.saturating_sub(4));
    let rows = u16::try_from(lines.len()).unwrap_or(1) + 4;
    let inner = pen.frame(middle(area, columns, rows), "sure?");
    for (y, line) in (inner.y..).zip(&lines) {
        pen.put(inner.x, y, inner.width, line, model.theme.text());
    }
    let y = inner.bottom().saturating_sub(1);
    pen.put(inner.x, y, inner.width, keys, model.theme.accent());
}

/// Where a box of so many rows is: below the question that it answers, else in the middle.
fn place(model: &Model, area: Rect, rows: u16) -> Rect {
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let answer = Layout::of(model, area).answer;
    if answer.height > 0 {
        return middle(answer, columns, answer.height);
    }
    middle(area, columns, rows.min(area.height.saturating_sub(2)))
}

/// A text, and below it the files that go with it.
fn text_box(pen: &mut Pen<'_>, place: Rect, title: &str, editor: &Editor, files: &[String]) {
    let inner = pen.frame(place, title);
    let named = u16::try_from(files.len()).unwrap_or(u16::MAX).min(inner.height.saturating_sub(1));
    let text = Rect { height: inner.height - named, ..inner };
    let accent = pen.theme.accent();
    for (y, file) in (text.bottom()..inner.bottom()).zip(files) {
        pen.put(
            inner.x,
            y,
            inner.width,
            &format!("+ {}", ending(file, inner.width.saturating_sub(2))),
            accent,
        );
    }
    edit(pen, text, editor);
}

/// The box for the path of a file.
fn file(model: &Model, pen: &mut Pen<'_>, area: Rect, form: &FileBox) {
    let theme = model.theme;
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let name = model.name_of(&form.id).unwrap_or_default();
    let inner = pen.frame(middle(area, columns, 5), &format!("a file for {name}"));
    edit(pen, Rect { height: 1, ..inner }, &form.words);
    let (text, style) = match form.fault {
        Some(why) => (why, theme.tone(Tone::Bad)),
        None => ("its path; it is copied into the worktree", theme.faint()),
    };
    pen.put(inner.x, inner.y + 2, inner.width, text, style);
}

fn words(model: &Model, pen: &mut Pen<'_>, area: Rect, form: &WordsBox) {
    let theme = model.theme;
    let names: Vec<&str> = form.ids.iter().filter_map(|id| model.name_of(id)).collect();
    let title = form.wanted.title(&names.join(", "));
    if form.takes_lines() {
        let place = place(model, area, text_rows(&form.words, &[]));
        return text_box(pen, place, &title, &form.words, &[]);
    }
    let inner = pen.frame(place(model, area, WORDS_ROWS), &title);
    edit(pen, Rect { height: 1, ..inner }, &form.words);
    let now = form.ids.first().and_then(|id| model.rows.all.get(id));
    let now = now.and_then(|session| form.wanted.present(session));
    let (text, style) = match (&form.fault, now) {
        (Some(why), _) => (why.clone(), theme.tone(Tone::Bad)),
        (None, Some(now)) => (format!("now {now}; {}", form.wanted.hint()), theme.faint()),
        (None, None) => (form.wanted.hint().to_owned(), theme.faint()),
    };
    pen.put(inner.x, inner.y + 2, inner.width, &text, style);
}

/// The latest at the bottom, each whole: it is there to be copied.
fn history(model: &Model, pen: &mut Pen<'_>, area: Rect, words: &str) {
    let theme = model.theme;
    let columns = BOX_COLUMNS.max(area.width * 3 / 4).min(area.width.saturating_sub(2));
    let mut lines: Vec<(Option<End>, String)> = Vec::new();
    let sought = words.to_lowercase();
    for done in model.work.history.iter().filter(|done| done.line.to_lowercase().contains(&sought))
    {
        let rows = wrapped(&done.line.replace('\n', " "), columns.saturating_sub(6));
        let marks = std::iter::once(Some(done.end)).chain(std::iter::repeat(None));
        lines.extend(marks.zip(rows));
    }
    let rows = u16::try_from(lines.len().max(1)).unwrap_or(u16::MAX).saturating_add(2);
    let inner = pen.frame(
        middle(area, columns, rows.min(area.height.saturating_sub(2))),
        &if words.is_empty() {
            "done here, as commands".to_owned()
        } else {
            format!("done here, as commands: {words}")
        },
    );
    if lines.is_empty() {
        let nothing = if model.work.history.is_empty() { "nothing yet" } else { "no matches" };
        pen.put(inner.x, inner.y, inner.width, nothing, theme.faint());
    }
    let first = lines.len().saturating_sub(usize::from(inner.height));
    for (y, (end, line)) in (inner.y..inner.bottom()).zip(lines.into_iter().skip(first)) {
        let (mark, tone) = match end {
            Some(End::NotYet) => ("…", Tone::Attention),
            Some(End::Well) => ("✓", Tone::Good),
            Some(End::Badly) => ("✗", Tone::Bad),
            Some(End::Undone) => ("↶", Tone::Faint),
            None => (" ", Tone::Faint),
        };
        pen.put(inner.x, y, 1, mark, theme.tone(tone));
        pen.put(inner.x + 2, y, inner.width.saturating_sub(2), &line, theme.text());
    }
}
