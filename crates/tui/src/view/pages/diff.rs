//! What a session has changed: the files with a bar each, and below them their hunks with line numbers.

use crate::command::Command;
use crate::keymap::Place;
use crate::model::{Model, Row, RowOf, Sheet};
use crate::patch::{FilePatch, LineKind, PatchLine};
use crate::remarks::Remarks;
use crate::theme::Theme;
use crate::view::pen::harmless;
use glis_client::labels::Tone;
use ratatui_core::style::{Modifier, Style};

/// More of one file, and of all of them, is not read on a screen. What is left out is said.
const FILE_LINES_MAX: usize = 5000;
const LINES_MAX: usize = 40_000;
/// As wide as the bar of the file that has changed most.
const BAR_COLUMNS: usize = 10;

pub(super) fn lay(sheet: &mut Sheet, files: &[FilePatch], columns: u16, model: &Model) {
    let theme = model.theme;
    let none = Remarks::default();
    let id = model.hand.selected.as_deref().unwrap_or_default();
    let remarks = model.pane.remarks.get(id).unwrap_or(&none);
    if files.is_empty() {
        let nothing = "nothing has changed since it began".to_owned();
        return sheet.push(vec![(nothing, theme.faint())], RowOf::Nothing);
    }
    sheet.push(head(files, remarks, theme), RowOf::Nothing);
    let names = files.iter().map(|file| name(file).chars().count()).max().unwrap_or(0);
    let most = files.iter().map(|file| file.added + file.removed).max().unwrap_or(0);
    let room = usize::from(columns).saturating_sub(BAR_COLUMNS + 18).max(12);
    for (at, file) in files.iter().enumerate() {
        sheet.push(listed(file, (names.min(room), most), remarks, theme), RowOf::Listed(at));
    }
    let mut left = LINES_MAX;
    for (at, file) in files.iter().enumerate() {
        sheet.push(Vec::new(), RowOf::Nothing);
        sheet.parts.push(sheet.rows.len());
        sheet.push(title(file, remarks, columns, theme), RowOf::File(at));
        let most = FILE_LINES_MAX.min(left);
        left -= most.min(file.lines.len());
        body(sheet, (at, file, most), remarks, theme);
    }
    if remarks.comments.is_empty() {
        return;
    }
    let key = model.key(Place::View, Command::Send);
    let count = remarks.comments.len();
    sheet.push(Vec::new(), RowOf::Nothing);
    let comments = if count == 1 { "comment is" } else { "comments are" };
    let text = format!("{count} {comments} not sent: {key} makes one message of them");
    sheet.push(vec![(text, theme.tone(Tone::Attention))], RowOf::Nothing);
}

fn head(files: &[FilePatch], remarks: &Remarks, theme: Theme) -> Row {
    let (added, removed) = files
        .iter()
        .fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    let count =
        if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
    let seen = files.iter().filter(|file| remarks.has_seen(file)).count();
    vec![
        (format!("{count}  "), theme.text()),
        (format!("+{added}"), theme.tone(Tone::Good)),
        (format!(" −{removed}"), theme.tone(Tone::Bad)),
        (format!("  {seen} seen"), theme.faint()),
    ]
}

/// What it is called, and was.
fn name(file: &FilePatch) -> String {
    match &file.was {
        Some(was) => format!("{} (was {was})", file.path),
        None => file.path.clone(),
    }
}

fn listed(file: &FilePatch, (names, most): (usize, usize), remarks: &Remarks, theme: Theme) -> Row {
    let name = harmless(&name(file));
    let beyond = name.chars().count().saturating_sub(names);
    let shown: String = if beyond > 0 {
        std::iter::once('…').chain(name.chars().skip(beyond + 1)).collect()
    } else {
        name
    };
    // A change has at least one cell, and the largest all of them.
    let cells = |lines: usize| (lines * BAR_COLUMNS).div_ceil(most.max(1)).min(BAR_COLUMNS);
    let all = cells(file.added + file.removed);
    let plus = (all * file.added).div_ceil((file.added + file.removed).max(1)).min(all);
    vec![
        (tick(file, remarks).to_owned(), theme.tone(Tone::Good)),
        (format!("{shown:names$} "), theme.text()),
        (format!("{:>5}", format!("+{}", file.added)), theme.tone(Tone::Good)),
        (format!("{:>5} ", format!("−{}", file.removed)), theme.tone(Tone::Bad)),
        ("■".repeat(plus), theme.tone(Tone::Good)),
        ("■".repeat(all - plus), theme.tone(Tone::Bad)),
        (file.note.map(|note| format!(" {note}")).unwrap_or_default(), theme.faint()),
    ]
}

fn tick(file: &FilePatch, remarks: &Remarks) -> &'static str {
    if remarks.has_seen(file) { "✓ " } else { "  " }
}

fn title(file: &FilePatch, remarks: &Remarks, columns: u16, theme: Theme) -> Row {
    let note = file.note.map(|note| format!(" · {note}")).unwrap_or_default();
    let text = format!("{}{}{note} ", tick(file, remarks).trim_start(), harmless(&name(file)));
    let rest = usize::from(columns).saturating_sub(text.chars().count());
    vec![(text, theme.accent()), ("─".repeat(rest), theme.line())]
}

fn body(
    sheet: &mut Sheet,
    (at, file, most): (usize, &FilePatch, usize),
    remarks: &Remarks,
    theme: Theme,
) {
    let last = file.lines.iter().map(|line| line.numbers.0.max(line.numbers.1)).max();
    let digits = last.unwrap_or(0).to_string().len().max(2);
    let shown = file.lines.get(..most).unwrap_or(&file.lines);
    let marked = changed_words(shown);
    for (number, line) in shown.iter().enumerate() {
        if line.kind == LineKind::Hunk {
            sheet.hunks.push(sheet.rows.len());
        }
        let marked = marked.get(number).copied().unwrap_or_default();
        sheet.push(line_row(line, digits, marked, theme), RowOf::Line(at, number));
        for comment in remarks.comments.iter().filter(|one| one.is_on(file, line)) {
            let lead = " ".repeat(2 * digits + 2);
            let text = vec![(format!("{lead}✎ {}", harmless(&comment.words)), theme.accent())];
            sheet.push(text, RowOf::Line(at, number));
        }
    }
    let left_out = file.lines.len() - shown.len();
    if left_out > 0 {
        let text = format!("{left_out} more lines of it are not shown");
        sheet.push(vec![(text, theme.tone(Tone::Attention))], RowOf::Nothing);
    }
}

fn line_row(line: &PatchLine, digits: usize, (from, to): (usize, usize), theme: Theme) -> Row {
    let number = |number: usize| match number {
        0 => " ".repeat(digits),
        number => format!("{number:>digits$}"),
    };
    let (sign, style) = match line.kind {
        LineKind::Hunk => {
            let gap = " ".repeat(2 * digits);
            return vec![(format!("{gap} ⋯ {}", harmless(&line.text)), theme.tone(Tone::Calm))];
        }
        LineKind::Same => (" ", theme.text()),
        LineKind::Added => ("+", theme.tone(Tone::Good)),
        LineKind::Removed => ("−", theme.tone(Tone::Bad)),
    };
    let numbers = format!("{} {} ", number(line.numbers.0), number(line.numbers.1));
    let mut row = vec![(numbers, theme.faint()), (sign.to_owned(), style)];
    let letters: Vec<char> = line.text.chars().collect();
    let part = |from: usize, to: usize, style: Style| {
        let text: String = letters.get(from..to).unwrap_or_default().iter().collect();
        (harmless(&text.replace('\t', "    ")), style)
    };
    let (from, to) = (from.min(letters.len()), to.min(letters.len()));
    row.push(part(0, from, style));
    row.push(part(from, to, style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)));
    row.push(part(to, letters.len(), style));
    row.retain(|(text, _)| !text.is_empty());
    row
}

/// From where to where each line differs from the one that it replaces, where as many lines come as go.
fn changed_words(lines: &[PatchLine]) -> Vec<(usize, usize)> {
    let mut marked = vec![(0, 0); lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, kind: LineKind| {
            lines.iter().skip(from).take_while(|line| line.kind == kind).count()
        };
        let gone = run(at, LineKind::Removed);
        let come = run(at + gone, LineKind::Added);
        for pair in (0..gone).filter(|_| gone == come) {
            let (old, new) = (at + pair, at + gone + pair);
            let text = |at: usize| lines.get(at).map(|line| line.text.as_str()).unwrap_or_default();
            let [of_old, of_new] = difference(text(old), text(new));
            for (at, range) in [(old, of_old), (new, of_new)] {
                if let Some(mark) = marked.get_mut(at) {
                    *mark = range;
                }
            }
        }
        at += (gone + come).max(1);
    }
    marked
}

/// Where two lines differ, in letters of each; nowhere if they have too little in common for that to tell anything.
fn difference(old: &str, new: &str) -> [(usize, usize); 2] {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let same = |(one, other): &(&char, &char)| one == other;
    let before = old.iter().zip(&new).take_while(same).count();
    let room = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(room).take_while(same).count();
    let blank = old.iter().take(before).all(|c| c.is_whitespace());
    if after == 0 && blank {
        return [(0, 0); 2];
    }
    [(before, old.len() - after), (before, new.len() - after)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_inside_a_line_is_marked() {
        assert_eq!(difference("let a = 1;", "let a = 22;"), [(8, 9), (8, 10)]);
        assert_eq!(difference("old", "new"), [(0, 0), (0, 0)]);
        assert_eq!(difference("same", "same"), [(4, 4), (4, 4)]);
    }
}
