//! A conversation: who said what and when, tools in a row each, and what every turn took.

use super::markdown;
use crate::message::Said;
use crate::model::{Model, Row, RowOf, Sheet};
use crate::theme::Theme;
use crate::view::patched::patch_line;
use crate::view::pen::{harmless, wrapped};
use glis_client::Edit;
use glis_client::labels::{Tone, span};
use glis_wire::view::{Entry, Voice};
use jiff::tz::TimeZone;
use ratatui_core::style::Modifier;
use serde_json::Value;

/// What a conversation is laid out for.
struct Page {
    columns: u16,
    theme: Theme,
    zone: TimeZone,
    /// Paths in it are told as they are called there.
    worktree: Option<String>,
}

impl Page {
    fn relative(&self, path: &str) -> String {
        let inside = self.worktree.as_deref().and_then(|tree| path.strip_prefix(tree));
        let inside = inside.and_then(|rest| rest.strip_prefix('/'));
        inside.unwrap_or(path).to_owned()
    }

    /// When it was, by the clock on the wall.
    fn clock(&self, time: &str) -> String {
        let Ok(time) = time.parse::<jiff::Timestamp>() else { return String::new() };
        let time = time.to_zoned(self.zone.clone());
        format!("{:02}:{:02}", time.hour(), time.minute())
    }
}

/// Lays out what comes behind the entries that are on the sheet.
pub(super) fn extend(sheet: &mut Sheet, said: &Said, columns: u16, model: &Model) {
    // Looked up once: that takes longer than all else of an entry.
    let (theme, zone) = (model.theme, TimeZone::system());
    let worktree = model.session().and_then(|session| session.worktree.clone());
    let page = Page { columns, theme, zone, worktree };
    let entries = &said.entries;
    if sheet.rows.is_empty() && said.from > 0 {
        let more = "… what was said before is read when the hand comes here".to_owned();
        sheet.push(vec![(more, theme.faint())], RowOf::Nothing);
    }
    for at in sheet.entries..entries.len() {
        let Some(entry) = entries.get(at) else { break };
        let former = entries.get(..at).unwrap_or_default();
        let rows = match entry.voice {
            Voice::User | Voice::Assistant => words(entry, &page),
            Voice::Tool => tool(entry, model.pane.reader.open.contains(&at), &page),
            Voice::System => end_of_turn(entry, (said.from, former), &page),
        };
        // Tools that follow each other stand together.
        let is_tool = |entry: &Entry| entry.voice == Voice::Tool;
        if let (Voice::User, Some(last)) = (entry.voice, former.last())
            && last.voice != Voice::System
        {
            // Of a terminal no end of a turn is told: there it is what was said last.
            let took = lasted(last, former).into_iter();
            let told = std::iter::once("turn".to_owned()).chain(took).collect::<Vec<_>>();
            sheet.push(Vec::new(), RowOf::Nothing);
            sheet.push(rule(&told, &page), RowOf::Nothing);
        }
        let gap = at > 0 && !(is_tool(entry) && former.last().is_some_and(is_tool));
        if gap && !rows.is_empty() {
            sheet.push(Vec::new(), RowOf::Nothing);
        }
        if entry.voice == Voice::User {
            sheet.parts.push(sheet.rows.len());
        }
        for row in rows {
            sheet.push(row, RowOf::Entry(at));
        }
    }
    sheet.entries = entries.len();
}

/// What a person or the agent said, below who it was and when.
fn words(entry: &Entry, page: &Page) -> Vec<Row> {
    let theme = page.theme;
    let is_own = entry.voice == Voice::User;
    let style = if is_own { theme.accent() } else { theme.tone(Tone::Good) };
    let by = entry.metadata.get("by").and_then(Value::as_str);
    let head = vec![
        (format!("{} ", by.unwrap_or(super::who(entry.voice))), style),
        (page.clock(&entry.timestamp), theme.faint()),
    ];
    let room = page.columns.saturating_sub(2);
    let rows: Vec<Row> = if is_own {
        let own = theme.accent().remove_modifier(Modifier::BOLD);
        wrapped(&entry.content, room).into_iter().map(|line| vec![(line, own)]).collect()
    } else {
        markdown::rows(&entry.content, room, theme)
    };
    let indented = rows.into_iter().map(|row| {
        let lead = (if is_own { "▏ " } else { "  " }.to_owned(), theme.accent());
        std::iter::once(lead).chain(row).collect()
    });
    std::iter::once(head).chain(indented).collect()
}

/// What a tool has changed in files, where that was short enough to be kept.
fn changes(entry: &Entry) -> Vec<Edit> {
    let Some(Value::Object(texts)) = entry.metadata.get("edit") else { return Vec::new() };
    let mut input = texts.clone();
    let path = entry.content.lines().next().unwrap_or_default();
    input.insert("file_path".to_owned(), Value::from(path));
    glis_client::edits(&Value::Object(input))
}

/// One row; and below it the patch, or all of what the tool was given, once that was opened.
fn tool(entry: &Entry, is_open: bool, page: &Page) -> Vec<Row> {
    let theme = page.theme;
    let about = |key: &str| entry.metadata.get(key).and_then(Value::as_str);
    let mut lines = entry.content.lines();
    let first = page.relative(&harmless(lines.next().unwrap_or_default()));
    let changes = changes(entry);
    let more = lines.next().is_some() || !changes.is_empty();
    let sign = match (is_open, more) {
        (true, _) => "▾",
        (false, true) => "▸",
        (false, false) => "·",
    };
    let mut row = vec![
        (format!("  {sign} "), theme.faint()),
        (format!("{} ", about("tool").unwrap_or("tool")), theme.tone(Tone::Calm)),
        (first, theme.text()),
    ];
    if !changes.is_empty() {
        let lines = || changes.iter().flat_map(|edit| &edit.lines);
        let count = |sign: char| lines().filter(|line| line.starts_with(sign)).count();
        row.push((format!(" +{}", count('+')), theme.tone(Tone::Good)));
        row.push((format!(" −{}", count('-')), theme.tone(Tone::Bad)));
    }
    row.extend(about("outcome").map(|outcome| (format!(" ✗ {outcome}"), theme.tone(Tone::Bad))));
    row.push((format!(" {}", page.clock(&entry.timestamp)), theme.faint()));
    let mut rows = vec![row];
    let room = page.columns.saturating_sub(6);
    let told = |text: String, style| vec![(format!("      {text}"), style)];
    if is_open && changes.is_empty() {
        rows.extend(
            wrapped(&entry.content, room).into_iter().map(|line| told(line, theme.faint())),
        );
    }
    for edit in changes.iter().filter(|_| is_open) {
        if changes.len() > 1 {
            rows.push(told(page.relative(&harmless(&edit.path)), theme.accent()));
        }
        let lines = edit.lines.iter().flat_map(|line| patch_line(line, room, theme));
        rows.extend(lines.map(|(line, style)| told(line, style)));
    }
    rows
}

/// A rule with what the turn took; what the system says otherwise stands above it.
fn end_of_turn(entry: &Entry, (from, former): (u64, &[Entry]), page: &Page) -> Vec<Row> {
    let theme = page.theme;
    let number = |key: &str| entry.metadata.get(key).and_then(Value::as_u64);
    let said = wrapped(&entry.content, page.columns.saturating_sub(2)).into_iter();
    let mut rows: Vec<Row> = said.map(|line| vec![(format!("  {line}"), theme.faint())]).collect();
    let used = number("tokens_in").zip(number("tokens_out"));
    if !rows.is_empty() && used.is_none() {
        return rows;
    }
    let outcome = entry.metadata.get("outcome").and_then(Value::as_str);
    let mut told = vec![format!("turn {}", outcome.unwrap_or("ended"))];
    told.extend(lasted(entry, former));
    told.extend(used.map(|(went_in, came_out)| format!("{} tokens", short(went_in + came_out))));
    told.extend(cost(entry, from, former));
    rows.push(rule(&told, page));
    rows
}

fn rule(told: &[String], page: &Page) -> Row {
    let theme = page.theme;
    let text = format!("── {} ", told.join(" · "));
    let rest = usize::from(page.columns).saturating_sub(text.chars().count());
    vec![(text, theme.faint()), ("─".repeat(rest), theme.line())]
}

/// How long it took: from the words that began it.
fn lasted(entry: &Entry, former: &[Entry]) -> Option<String> {
    let begun = former.iter().rfind(|entry| entry.voice == Voice::User)?;
    let at = |entry: &Entry| Some(entry.timestamp.parse::<jiff::Timestamp>().ok()?.as_second());
    Some(span((at(entry)? - at(begun)?).max(0)))
}

/// What it cost. An agent tells what all of it has cost by then: what a turn did is more than the one before it had.
fn cost(entry: &Entry, from: u64, former: &[Entry]) -> Option<String> {
    let told = |entry: &Entry| entry.metadata.get("cost_micros").and_then(Value::as_u64);
    let now = told(entry)?;
    // One that begins anew counts from nothing again.
    let before = former.iter().rev().find_map(told).filter(|before| *before <= now);
    // What was before the entries that were read is not known.
    let words = if before.is_none() && from > 0 { " so far" } else { "" };
    let dollars = glis_wire::view::dollars(now - before.unwrap_or(0));
    Some(format!("${dollars:.2}{words}"))
}

/// A number as it is said: `12k`.
fn short(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{}M", number / 1_000_000),
    }
}
