//! The hand in a page of the session: where it is, what it opens, what it says of lines of a diff.

use super::{remarks, said, send, words};
use crate::chord::Chord;
use crate::command::Command;
use crate::editor::Editor;
use crate::keymap::{Place, leaves_box, submits};
use crate::message::{Effect, Fetched, Said, Tab, Wish};
use crate::model::{LaidFor, Mode, Model, Page, RowOf, Towards, turned};
use crate::patch::{FilePatch, PatchLine};
use crate::remarks::Comment;
use crate::view;
use crate::wanted::Wanted;

/// So many times as much of a conversation is read when the hand comes to the beginning of what is there.
const MORE: u64 = 16;

/// Lays the page out, where it is another one or there is more of it.
pub(super) fn lay(model: &mut Model) {
    let Page::Shown(fetched) = &model.pane.page else { return };
    if model.shown_tab() == Tab::Terminal {
        return;
    }
    let Some(area) = view::content(model) else { return };
    let laid_for = LaidFor {
        columns: area.width.saturating_sub(1),
        theme: model.theme,
        change: model.pane.change,
        minute: match fetched {
            Fetched::Conversation(_) | Fetched::Diff(_) => 0,
            Fetched::Snapshots(_) | Fetched::Runs(_) | Fetched::Events(_) => {
                model.now.wall_secs / 60
            }
        },
    };
    let grown = matches!(fetched, Fetched::Conversation(said)
        if said.entries.len() > model.pane.sheet.entries);
    if model.pane.sheet.laid_for == Some(laid_for) && !grown {
        return;
    }
    let former = std::mem::take(&mut model.pane.sheet);
    let Page::Shown(fetched) = &model.pane.page else { return };
    model.pane.sheet = view::lay(former, fetched, laid_for, model);
    let last = model.pane.sheet.rows.len().saturating_sub(1);
    model.pane.reader.at = model.pane.reader.at.min(last);
}

/// What of a conversation is to be read: what is new, where its end is known.
pub(super) fn wish(model: &Model) -> Wish {
    let sought = model.hand.sought.as_ref().map(|(id, _)| id);
    match &model.pane.page {
        Page::Shown(Fetched::Conversation(known)) => Wish::From(known.next),
        // Where something was said is not known beforehand.
        _ if sought.is_some() && sought == model.hand.selected.as_ref() => Wish::From(0),
        Page::Shown(_) | Page::Empty | Page::Loading | Page::Fault(_) => Wish::End,
    }
}

/// What a page shows has come.
pub(super) fn arrived(model: &mut Model, fetched: Fetched) {
    let height = height(model);
    if let (Page::Shown(Fetched::Conversation(known)), Fetched::Conversation(said)) =
        (&mut model.pane.page, &fetched)
    {
        if said.from == known.next && said.next >= known.next && !known.entries.is_empty() {
            let at_end = model.pane.scroll + height >= model.pane.sheet.rows.len();
            known.entries.extend(said.entries.iter().cloned());
            known.next = said.next;
            // Who reads what was said before is left there.
            if at_end && model.mode == Mode::List {
                lay(model);
                model.pane.scroll = model.pane.sheet.rows.len().saturating_sub(height);
            }
            return;
        }
        if said.from > 0 && said.next < said.from {
            // A shorter conversation is another one.
            model.pane.page = Page::Loading;
            model.pane.preview.follow_at = Some(model.now.ms);
            return;
        }
    }
    let before = std::mem::replace(&mut model.pane.page, Page::Shown(fetched));
    let rows = model.pane.sheet.rows.len();
    model.pane.changed();
    lay(model);
    match before {
        // What was said before has come above what is looked at.
        Page::Shown(Fetched::Conversation(Said { from: 1.., .. })) => {
            let above = model.pane.sheet.rows.len().saturating_sub(rows);
            let above = if model.pane.reader.rises { 0 } else { above };
            model.pane.scroll += above;
            model.pane.reader.at += above;
        }
        Page::Shown(_) => {}
        Page::Empty | Page::Loading | Page::Fault(_) => begin(model),
    }
}

/// Where a page is looked at first: what was said last is what is looked for, or what was sought.
fn begin(model: &mut Model) {
    let newest_last = matches!(model.shown_tab(), Tab::Conversation | Tab::Runs | Tab::Events);
    let last = model.pane.sheet.rows.len().saturating_sub(1);
    let id = model.hand.selected.clone();
    let sought = model.hand.sought.take_if(|(sought, _)| id.as_ref() == Some(&*sought));
    let found = sought.and_then(|(_, at)| {
        let Page::Shown(Fetched::Conversation(said)) = &model.pane.page else { return None };
        let entry = said.entries.iter().position(|entry| entry.timestamp == at)?;
        model.pane.sheet.row_of(RowOf::Entry(entry))
    });
    let at = found.unwrap_or(if newest_last { last } else { 0 });
    model.pane.reader.at = at;
    model.pane.scroll = found.unwrap_or(if newest_last { usize::MAX } else { 0 });
    model.pane.scroll = model.pane.scroll.min(view::scroll_max(model));
}

/// The rows that are seen of it.
fn height(model: &Model) -> usize {
    view::content(model).map_or(1, |area| usize::from(area.height)).max(1)
}

/// Takes the keys into the page that is shown. Of a terminal that is its past.
pub(super) fn open(model: &mut Model) {
    if model.shown_tab() == Tab::Terminal {
        return super::past::begin(model, 1);
    }
    if model.hand.selected.is_none() || view::content(model).is_none() {
        return;
    }
    model.notice = None;
    let (first, height) = (model.pane.scroll, height(model));
    let at = model.pane.reader.at;
    model.pane.reader.at = at.clamp(first, first + height - 1);
    model.mode = Mode::View { words: None };
}

/// There is nothing to be in any more.
pub(super) fn keep(model: &mut Model) {
    let is_in = matches!(model.mode, Mode::View { .. });
    if is_in && (model.shown_tab() == Tab::Terminal || view::content(model).is_none()) {
        model.mode = Mode::List;
    }
}

/// Moves the hand to a row, which is in sight then. At the beginning what was said before is read.
fn go_to(model: &mut Model, row: usize) {
    let (height, rows) = (height(model), model.pane.sheet.rows.len());
    let row = row.min(rows.saturating_sub(1));
    model.pane.reader.at = row;
    let most = rows.saturating_sub(height);
    let scroll = model.pane.scroll.min(most);
    model.pane.scroll = scroll.clamp((row + 1).saturating_sub(height), row).min(most);
    if row == 0 {
        read_back(model);
    }
}

/// Has more of the conversation read, where only its end is there: all of it, unless that is very much.
pub(super) fn read_back(model: &mut Model) {
    let Page::Shown(Fetched::Conversation(known)) = &model.pane.page else { return };
    let read = (known.next - known.from).saturating_mul(MORE);
    let from = known.next.saturating_sub(read);
    let Some(session) = model.hand.selected.clone().filter(|_| known.from > 0) else { return };
    model.effects.push(Effect::Fetch {
        session,
        tab: Tab::Conversation,
        last_seq: model.house.last_seq,
        task: None,
        said: Wish::From(from),
    });
}

fn step(model: &mut Model, by: isize) {
    go_to(model, model.pane.reader.at.saturating_add_signed(by));
}

/// Carries a command out that means something else in a page than in the list. Whether it does.
pub(super) fn run(model: &mut Model, command: Command) -> bool {
    let height = isize::try_from(height(model)).unwrap_or(1);
    let page = (height - 1).max(1);
    model.pane.reader.rises = command == Command::Top;
    match command {
        Command::Down => step(model, 1),
        Command::Up => step(model, -1),
        Command::HalfDown => step(model, (height / 2).max(1)),
        Command::HalfUp => step(model, -(height / 2).max(1)),
        Command::ScrollDown => step(model, page),
        Command::ScrollUp => step(model, -page),
        Command::Top => go_to(model, 0),
        Command::Bottom => go_to(model, usize::MAX),
        Command::NextPart => turn_part(model, Towards::Newer),
        Command::FormerPart => turn_part(model, Towards::Older),
        Command::Filter => model.mode = Mode::View { words: Some(Editor::default()) },
        Command::NextFound => seek(model, Towards::Newer),
        Command::FormerFound => seek(model, Towards::Older),
        Command::Open => open_row(model),
        Command::Mark => tick(model),
        Command::MarkRange => {
            let reader = &mut model.pane.reader;
            reader.from = if reader.from.is_some() { None } else { Some(reader.at) };
        }
        Command::Copy => copy(model),
        Command::Remark => remark(model),
        Command::Send => send_remarks(model),
        Command::Close => close(model),
        _ => return false,
    }
    true
}

/// A selection ends first, then this. What was sought is forgotten: the next `n` is for hunks.
fn close(model: &mut Model) {
    let reader = &mut model.pane.reader;
    if reader.from.take().is_none() {
        reader.words.clear();
        model.mode = Mode::List;
    }
}

/// To the next file or turn, or the one before; from the list as well.
pub(super) fn turn_part(model: &mut Model, by: Towards) {
    if !matches!(model.mode, Mode::View { .. }) {
        open(model);
    }
    let next = turned(&model.pane.sheet.parts, model.pane.reader.at, by);
    if let Some(row) = next.filter(|_| matches!(model.mode, Mode::View { .. })) {
        go_to(model, row);
        show_from(model, row);
    }
}

/// Has a row be the first that is seen.
fn show_from(model: &mut Model, row: usize) {
    model.pane.scroll = row.min(view::scroll_max(model));
}

/// To the next match of what is sought, round and round; in a diff without a search to the next hunk.
fn seek(model: &mut Model, by: Towards) {
    let words = model.pane.reader.words.to_lowercase();
    let sheet = &model.pane.sheet;
    let rows: Vec<usize> = if words.is_empty() {
        sheet.hunks.clone()
    } else {
        (0..sheet.rows.len())
            .filter(|row| sheet.text(*row).to_lowercase().contains(&words))
            .collect()
    };
    match turned(&rows, model.pane.reader.at, by) {
        Some(row) => go_to(model, row),
        None if words.is_empty() => {
            let key = model.key(Place::View, Command::Filter);
            said(model, format!("{key} searches for words"));
        }
        None => said(model, format!("no match for `{}`", model.pane.reader.words)),
    }
}

/// Takes a key while words are typed that are to be sought.
pub(super) fn press(model: &mut Model, chord: Chord, mut words: Editor) {
    if submits(chord) {
        words.text().clone_into(&mut model.pane.reader.words);
        model.mode = Mode::View { words: None };
        return seek(model, Towards::Newer);
    }
    words.press(chord);
    model.mode = Mode::View { words: (!leaves_box(chord)).then_some(words) };
}

fn open_row(model: &mut Model) {
    let at = model.pane.reader.at;
    match model.pane.sheet.of_row(at) {
        RowOf::Entry(entry) => {
            let open = &mut model.pane.reader.open;
            if !open.remove(&entry) {
                open.insert(entry);
            }
            model.pane.changed();
            lay(model);
            let row = model.pane.sheet.row_of(RowOf::Entry(entry)).unwrap_or(at);
            go_to(model, row);
        }
        RowOf::Listed(file) => {
            if let Some(row) = model.pane.sheet.row_of(RowOf::File(file)) {
                go_to(model, row);
                show_from(model, row);
            }
        }
        RowOf::File(_) | RowOf::Line(..) | RowOf::Nothing => {}
    }
}

/// The file of a diff that a row is of, and its number.
fn file_at(model: &Model, row: usize) -> Option<(usize, &FilePatch)> {
    let Page::Shown(Fetched::Diff(files)) = &model.pane.page else { return None };
    let at = match model.pane.sheet.of_row(row) {
        RowOf::Listed(at) | RowOf::File(at) | RowOf::Line(at, _) => at,
        RowOf::Entry(_) | RowOf::Nothing => return None,
    };
    Some((at, files.get(at)?))
}

/// Notes that the file in hand was seen, and goes on to the next that was not.
fn tick(model: &mut Model) {
    let Some((at, file)) = file_at(model, model.pane.reader.at) else { return };
    let (file, listed) = (file.clone(), model.pane.sheet.of_row(model.pane.reader.at));
    let is_seen = remarks::of(model).turn_seen(&file);
    model.pane.changed();
    lay(model);
    let Page::Shown(Fetched::Diff(files)) = &model.pane.page else { return };
    let id = model.hand.selected.as_deref().unwrap_or_default();
    let known = model.pane.remarks.get(id);
    let is_left = |(_, file): &(usize, &FilePatch)| known.is_none_or(|own| !own.has_seen(file));
    let all = || files.iter().enumerate();
    let (seen, count) = (files.len() - all().filter(is_left).count(), files.len());
    let next = all().skip(at + 1).chain(all().take(at)).find(is_left).map(|(next, _)| next);
    super::done(model, format!("{seen} of {count} files seen"));
    let Some(next) = next.filter(|_| is_seen) else { return };
    let in_list = matches!(listed, RowOf::Listed(_));
    let wanted = if in_list { RowOf::Listed(next) } else { RowOf::File(next) };
    if let Some(row) = model.pane.sheet.row_of(wanted) {
        go_to(model, row);
        if !in_list {
            show_from(model, row);
        }
    }
}

/// The line of a diff that the hand is at, and its file.
fn line_at(model: &Model) -> Option<(&FilePatch, &PatchLine)> {
    let row = model.pane.reader.at;
    let (_, file) = file_at(model, row)?;
    let RowOf::Line(_, line) = model.pane.sheet.of_row(row) else { return None };
    Some((file, file.lines.get(line)?))
}

/// Asks for words on the line in hand.
fn remark(model: &mut Model) {
    let Some((file, line)) = line_at(model) else {
        return said(model, "a comment goes on a line of the diff".to_owned());
    };
    let number = line.numbers.1.max(line.numbers.0);
    let comment =
        Comment { path: file.path.clone(), line: line.source(), number, words: String::new() };
    let known = remarks::of(model).comments.iter().find(|one| {
        (&one.path, &one.line, one.number) == (&comment.path, &comment.line, comment.number)
    });
    let former = known.map(|one| one.words.clone()).unwrap_or_default();
    let id = model.hand.selected.clone();
    words::open_for(model, Wanted::Remark { comment }, id.into_iter().collect());
    if let Mode::Words(form) = &mut model.mode {
        form.words = Editor::with(&former);
    }
}

/// Opens the box for a message, with all comments in it.
fn send_remarks(model: &mut Model) {
    let Some(id) = model.hand.selected.clone() else { return };
    let remarks = remarks::of(model);
    if let Some(text) = remarks.message() {
        remarks.comments.clear();
        model.drafts.give_back(&id, &text);
        model.pane.changed();
    }
    send::open(model);
}

/// Some rows as text, whole however wide they are: of a diff as the patch has them.
pub(super) fn text_of(model: &Model, rows: impl Iterator<Item = usize>) -> Vec<String> {
    let sheet = &model.pane.sheet;
    let mut lines = Vec::new();
    let mut before = RowOf::Nothing;
    for row in rows.filter(|row| *row < sheet.rows.len()) {
        let of = sheet.of_row(row);
        let source = match (of, &model.pane.page) {
            (RowOf::Line(file, line), Page::Shown(Fetched::Diff(files))) => {
                files.get(file).and_then(|file| file.lines.get(line)).map(PatchLine::source)
            }
            _ => None,
        };
        match source {
            // A comment stands below the line that it is on.
            Some(_) if of == before => {}
            Some(source) => lines.push(source),
            None => lines.push(sheet.text(row).trim_end().to_owned()),
        }
        before = of;
    }
    lines
}

fn copy(model: &mut Model) {
    let lines = text_of(model, model.pane.reader.selected());
    model.pane.reader.from = None;
    super::copy(model, lines.join("\n"), lines.len());
}
