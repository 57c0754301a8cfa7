//! Everything that is asked, whole, answered by one key.

use super::pen::{Pen, width, wrapped};
use crate::command::Command;
use crate::keymap::Place;
use crate::model::{Mode, Model};
use crate::theme::Theme;
use glis_client::edits;
use glis_client::labels::Tone;
use glis_core::talk::AskKind;
use glis_core::verdict::Want;
use glis_wire::view::{SessionView, WaitingFor};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

/// Draws it: the question in hand whole, the others in a line each.
pub(super) fn draw(model: &Model, at: Option<&(String, String)>, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    let asks = model.asks();
    if asks.is_empty() {
        let text = if model.asks_are_coming() { "…" } else { "Nothing waits for you." };
        pen.put(area.x + 1, area.y + 1, area.width, text, theme.faint());
        return;
    }
    let most = scroll_max(model, area);
    let first = model.ask_scroll.min(most);
    for (at, row) in rows(model, at, area).into_iter().enumerate().skip(first) {
        let Some(y) = u16::try_from(at - first).ok().map(|y| area.y + y) else { break };
        if y >= area.bottom() {
            break;
        }
        match row {
            Row::Head { session, ask, in_hand } => {
                head(model, pen, Rect { y, height: 1, ..area }, (session, ask), in_hand);
            }
            Row::Text(_, text, style) => {
                pen.put(area.x + 4, y, area.width.saturating_sub(5), &text, style);
            }
        }
    }
    if first < most {
        let below =
            format!("↓ {} more, {}", most - first, model.key(Place::Asks, Command::ScrollDown));
        pen.put_over(area.right(), area.bottom().saturating_sub(1), 24, &below, theme.accent());
    }
}

/// A row of the view: a question in short, or a line of the one in hand.
enum Row<'m> {
    Head { session: &'m SessionView, ask: &'m WaitingFor, in_hand: bool },
    Text((String, String), String, Style),
}

/// All of them, oldest first, the one in hand whole.
fn rows<'m>(model: &'m Model, at: Option<&(String, String)>, area: Rect) -> Vec<Row<'m>> {
    let mut rows = Vec::new();
    for (session, ask) in model.asks() {
        let in_hand = at.is_some_and(|(id, request)| *id == session.id && *request == ask.request);
        rows.push(Row::Head { session, ask, in_hand });
        if in_hand {
            let whole = whole(model, session, ask, area.width.saturating_sub(6));
            let of = (session.id.clone(), ask.request.clone());
            rows.extend(whole.into_iter().map(|(text, style)| Row::Text(of.clone(), text, style)));
        }
    }
    rows
}

/// How far it can be scrolled.
pub(super) fn scroll_max(model: &Model, area: Rect) -> usize {
    let Mode::Asks { at } = &model.mode else { return 0 };
    rows(model, at.as_ref(), area).len().saturating_sub(usize::from(area.height))
}

/// The question in this row, by its session and request.
pub(super) fn at(model: &Model, area: Rect, row: u16) -> Option<(String, String)> {
    let Mode::Asks { at } = &model.mode else { return None };
    let first = model.ask_scroll.min(scroll_max(model, area));
    let place = first + usize::from(row.checked_sub(area.y)?);
    match rows(model, at.as_ref(), area).into_iter().nth(place)? {
        Row::Head { session, ask, .. } => Some((session.id.clone(), ask.request.clone())),
        Row::Text(of, ..) => Some(of),
    }
}

fn head(
    model: &Model,
    pen: &mut Pen<'_>,
    row: Rect,
    (session, ask): (&SessionView, &WaitingFor),
    in_hand: bool,
) {
    let theme = model.theme;
    if in_hand {
        pen.tint(row, theme.lifted());
        pen.put(row.x, row.y, 1, "▌", theme.accent());
    }
    pen.put(row.x + 2, row.y, 1, "?", theme.tone(Tone::Attention));
    let bold = theme.text().add_modifier(Modifier::BOLD);
    let x = pen.put(row.x + 4, row.y, row.width / 3, &session.name, bold) + 2;
    let x = pen.put(x, row.y, 9, &session.agent, theme.faint()) + 2;
    let answering = model.under_way_with(&session.id).map(|under_way| under_way.label);
    let text = answering.unwrap_or(if in_hand { kind(ask.kind) } else { &ask.text });
    pen.put(x, row.y, row.right().saturating_sub(x + 1), text, theme.text());
}

fn kind(kind: AskKind) -> &'static str {
    match kind {
        AskKind::Approval => "wants to be allowed",
        AskKind::Question => "asks",
        AskKind::Doubt => "was this message taken?",
    }
}

fn whole(
    model: &Model,
    session: &SessionView,
    ask: &WaitingFor,
    columns: u16,
) -> Vec<(String, Style)> {
    let theme = model.theme;
    let mut lines: Vec<(String, Style)> = vec![(String::new(), theme.text())];
    let text = wrapped(&ask.text, columns);
    lines.extend(text.into_iter().map(|line| (line, theme.text())));
    let edits = ask.input.as_ref().map_or_else(Vec::new, edits);
    match &ask.wants {
        Some(Want::Command { line, folder }) => {
            lines.push((String::new(), theme.text()));
            let shown = wrapped(line, columns.saturating_sub(2));
            lines.extend(shown.into_iter().map(|line| (format!("$ {line}"), theme.accent())));
            lines.extend(folder.iter().map(|folder| (format!("in {folder}"), theme.faint())));
        }
        Some(Want::Edit { paths }) if edits.is_empty() => {
            lines.push((String::new(), theme.text()));
            lines.extend(paths.iter().map(|path| (format!("✎ {path}"), theme.accent())));
        }
        Some(Want::Edit { .. }) | None => {}
    }
    for edit in &edits {
        lines.push((String::new(), theme.text()));
        lines.push((format!("✎ {}", edit.path), theme.accent()));
        lines.extend(edit.lines.iter().flat_map(|line| patch_line(line, columns, theme)));
    }
    let choices = choices(ask);
    if !choices.is_empty() {
        lines.push((String::new(), theme.text()));
        for (at, choice) in choices.iter().enumerate().take(DIGITS) {
            let shown = wrapped(choice, columns.saturating_sub(3));
            let numbered = shown.into_iter().enumerate().map(|(row, text)| {
                if row == 0 { format!("{}  {text}", at + 1) } else { format!("   {text}") }
            });
            lines.extend(numbered.map(|line| (line, theme.accent())));
        }
    }
    lines.push((String::new(), theme.text()));
    let keys = wrapped(&keys_for(model, session, ask), columns);
    lines.extend(keys.into_iter().map(|line| (line, theme.faint())));
    lines.push((String::new(), theme.text()));
    lines.retain(|(text, _)| width(text) <= columns.saturating_add(4) || !text.is_empty());
    lines
}

/// As many choices have a digit.
const DIGITS: usize = 9;

/// What a question may be answered with, where it is one question: as it can be told, else as the agent
/// lists it.
pub(crate) fn choices(ask: &WaitingFor) -> Vec<String> {
    if ask.kind != AskKind::Question {
        return Vec::new();
    }
    if let Some(choices) = &ask.choices {
        return choices.clone();
    }
    let questions = ask.input.as_ref().and_then(|input| input.get("questions")?.as_array());
    let Some([only]) = questions.map(Vec::as_slice) else { return Vec::new() };
    let options = only.get("options").and_then(|options| options.as_array());
    let label = |option: &serde_json::Value| Some(option.get("label")?.as_str()?.to_owned());
    options.into_iter().flatten().filter_map(label).collect()
}

/// A line of a patch, in the colour of what it does; a long one goes on below itself.
fn patch_line(line: &str, columns: u16, theme: Theme) -> Vec<(String, Style)> {
    let style = match line.as_bytes().first() {
        Some(b'+') => theme.tone(Tone::Good),
        Some(b'-') => theme.tone(Tone::Bad),
        Some(b'@') => theme.tone(Tone::Calm),
        Some(_) | None => theme.text(),
    };
    let mut rows = vec![String::new()];
    for letter in line.replace('\t', "    ").chars() {
        let row = rows.last().map_or(0, |row| width(row));
        if row + width(letter.encode_utf8(&mut [0; 4])) > columns.max(2) {
            rows.push(" ".to_owned());
        }
        if let Some(row) = rows.last_mut() {
            row.push(letter);
        }
    }
    rows.into_iter().map(|row| (row, style)).collect()
}

/// What can be pressed for it.
pub(crate) fn keys_for(model: &Model, session: &SessionView, ask: &WaitingFor) -> String {
    let key = |command: Command| model.key(Place::Asks, command);
    let (yes, no) = (key(Command::Allow), key(Command::Deny));
    match (ask.kind, ask.choices.as_deref()) {
        (AskKind::Doubt, _) => format!("{yes} sends it again · {no} drops it"),
        (_, Some([])) => {
            let attach = key(Command::Attach);
            format!("only at its own terminal: {attach} attaches to {}", session.name)
        }
        (AskKind::Question, _) if !choices(ask).is_empty() => {
            let last = choices(ask).len().min(DIGITS);
            format!("1 to {last} chooses · {} answers in words", key(Command::Send))
        }
        (AskKind::Question, _) => format!("{} answers in words", key(Command::Send)),
        (AskKind::Approval, _) => {
            let always = key(Command::AllowForSession);
            format!("{yes} once · {always} for the session · {no} deny")
        }
    }
}
