//! The session in hand: who it is, what it needs, and what it shows.

use super::pages;
use super::pen::{CUT, Lines, Pen, beginning, ending, width};
use super::question;
use super::terminal;
use crate::command::Command;
use crate::keymap::Place;
use crate::message::{Now, Tab};
use crate::model::{Access, Badge, Mode, Model, Page, Zoom, since, was_asking};
use glis_client::labels::{KEPT, Tone};
use glis_core::Status;
use glis_wire::view::SessionRow;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// Who it is, where it is, the tabs, and a line of air.
const HEAD_ROWS: u16 = 4;
/// A card may take so much of the place; the rest is for what is shown.
const CARD_ROWS_MAX: u16 = 7;
/// The words of a card may take so many of them: below them are the next step and a line of air.
const TEXT_ROWS: usize = 4;

pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let Some(session) = model.session() else { return };
    let theme = model.theme;
    let room = area.width.saturating_sub(1);
    let bold = theme.text().add_modifier(Modifier::BOLD);
    let x = pen.put(area.x, area.y, room, &session.name, bold) + 2;
    let badge = model.rows.plans.badge(session);
    let kept = if session.process_kept { format!(", {KEPT}") } else { String::new() };
    let state = format!("{} {}{kept}", badge.mark, badge.word);
    let x = pen.put_to(x, area.y, area.right(), &state, theme.tone(badge.tone)) + 2;
    let facts = facts(session, model.rows.changes.get(&session.id));
    pen.put_to(x, area.y, area.right(), &facts, theme.faint());
    pen.put(area.x, area.y + 1, room, &place(model, session, room), theme.faint());
    tabs(model, pen, Rect { y: area.y + 2, height: 1, ..area });
    let card = card(model, session, room).into_iter().take(usize::from(CARD_ROWS_MAX));
    for (y, (text, style)) in (area.y + HEAD_ROWS..).zip(card) {
        pen.put(area.x, y, room, &text, style);
    }
    let content = content(model, area);
    if model.shown_tab() == Tab::Terminal {
        terminal::draw(model, pen, content);
    } else {
        page(model, pen, content);
    }
}

/// The place of what is shown.
pub(super) fn content(model: &Model, area: Rect) -> Rect {
    let room = area.width.saturating_sub(1);
    let card = model.session().map_or(0, |session| card(model, session, room).len());
    let above = HEAD_ROWS + u16::try_from(card).unwrap_or(0).min(CARD_ROWS_MAX);
    Rect { y: area.y + above, height: area.height.saturating_sub(above), ..area }
}

/// How far it can be scrolled.
pub(super) fn scroll_max(model: &Model, area: Rect) -> usize {
    let content = content(model, area);
    match &model.pane.page {
        Page::Shown(_) if model.shown_tab() != Tab::Terminal => {
            model.pane.sheet.rows.len().saturating_sub(usize::from(content.height))
        }
        Page::Shown(_) | Page::Empty | Page::Loading | Page::Fault(_) => 0,
    }
}

pub(super) fn tab_at(model: &Model, area: Rect, column: u16, row: u16) -> Option<Tab> {
    if row != area.y + 2 {
        return None;
    }
    let hit = |(x, text, _): &(u16, String, Tab)| (*x..*x + width(text)).contains(&column);
    labels(model, area).into_iter().find(hit).map(|(_, _, tab)| tab)
}

/// The tabs, each with its column: all words where they fit, else only that of the one that is shown.
fn labels(model: &Model, area: Rect) -> Vec<(u16, String, Tab)> {
    let words = |tab: Tab| tab.word().len() + 2;
    let all: usize = Tab::ALL.into_iter().map(words).sum();
    let room = usize::from(area.width);
    let gaps = Tab::ALL.len() - 1;
    let (fits, gap) = (all + gaps <= room, if all + 2 * gaps <= room { 2 } else { 1 });
    let mut x = area.x;
    let mut labels = Vec::new();
    for (at, tab) in Tab::ALL.into_iter().enumerate() {
        let shown = if fits || tab == model.shown_tab() { tab.word() } else { "" };
        let text = format!("{} {shown}", at + 1).trim_end().to_owned();
        let end = x + width(&text);
        labels.push((x, text, tab));
        x = end + gap;
    }
    labels
}

fn tabs(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    for (x, text, tab) in labels(model, area) {
        let style = if tab == model.shown_tab() {
            theme.accent().add_modifier(Modifier::UNDERLINED)
        } else {
            theme.faint()
        };
        pen.put_to(x, area.y, area.right(), &text, style);
    }
}

fn facts(session: &SessionRow, changes: Option<&usize>) -> String {
    let mut facts = vec![session.agent.clone()];
    facts.extend(session.model.clone());
    facts.extend(session.auto_yes.then(|| "auto-yes".to_owned()));
    facts.extend((session.queued > 0).then(|| format!("({} queued)", session.queued)));
    facts.extend(changes.filter(|files| **files > 0).map(|files| format!("{files} changed")));
    facts.extend(session.memory_bytes.map(|bytes| format!("{} MB", bytes.div_ceil(1024 * 1024))));
    facts.extend(session.compacted_at.as_ref().map(|_| "compacted".to_owned()));
    let cost = session.cost.and_then(|used| used.usd);
    facts.extend(cost.map(|dollars| format!("${dollars:.2}")));
    let window = session.cost.and_then(|used| used.window_percent);
    facts.extend(window.map(|used| format!("{used}% of its window")));
    facts.extend(session.budget.as_ref().map(|own| format!("{}% of {}", own.percent, own.allowed)));
    facts.join(" · ")
}

/// Its branch and its folder. Of a folder that has no room the last parts are told, which no other has.
fn place(model: &Model, session: &SessionRow, columns: u16) -> String {
    let branch = session.branch.as_ref().map_or_else(String::new, |branch| format!("{branch} · "));
    let folder = session.worktree.as_ref().unwrap_or(&session.repo_root);
    let folder = homely(model, folder);
    let room = columns.saturating_sub(width(&branch));
    let told = ending(&folder, room);
    if width(&told) > room { branch.trim_end_matches(" · ").to_owned() } else { branch + &told }
}

/// A path as its user writes it.
pub(super) fn homely(model: &Model, path: &str) -> String {
    let home = model.folders.home.as_deref();
    let rest = home
        .and_then(|home| path.strip_prefix(home))
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    rest.map_or_else(|| path.to_owned(), |rest| format!("~{rest}"))
}

/// What a person has to know before looking any further.
fn card(model: &Model, session: &SessionRow, columns: u16) -> Lines {
    // On all of the screen its terminal says that itself, and keeps its size.
    let alive = model.pane.zoom == Zoom::Full && model.pane.preview.live().is_some();
    if alive && model.shown_tab() == Tab::Terminal {
        return Vec::new();
    }
    let theme = model.theme;
    let attention = theme.tone(Tone::Attention);
    let mut lines = Vec::new();
    if let Some(ask) = &session.waiting_for {
        let text =
            beginning(&question::in_short(session, ask), columns.saturating_sub(2), TEXT_ROWS);
        lines.extend(text.into_iter().map(|line| (format!("? {line}"), attention)));
        let key = model.key(Place::List, Command::Asks);
        let does = if model.house.access == Access::Full { "answers" } else { "shows it" };
        lines.push((format!("  {key} {does}"), theme.faint()));
    } else if session.status == Status::Paused {
        lines.extend(paused(session, model.now).into_iter().map(|line| (line, attention)));
        lines.extend(asked_before(model, session, columns));
    } else if !session.was_asking.is_empty() {
        lines.extend(asked_before(model, session, columns));
    } else if let Some(why) = &session.failure {
        let text = beginning(why, columns.saturating_sub(2), TEXT_ROWS);
        let bad = theme.tone(Tone::Bad);
        lines.extend(text.into_iter().map(|line| (format!("✗ {line}"), bad)));
    } else if session.status == Status::Suspended {
        let age = since(&session.last_active_at, model.now);
        let Badge { mark, word, .. } = model.rows.plans.badge(session);
        let ago = if age == "now" { "just now".to_owned() } else { format!("{age} ago") };
        let text = format!("{mark} {word}, last active {ago}; a message wakes it");
        lines.push((text, theme.faint()));
    }
    if !lines.is_empty() {
        lines.push((String::new(), theme.text()));
    }
    lines
}

/// What it had asked when it was paused: it waits for words, and no answer reaches it any more.
fn asked_before(model: &Model, session: &SessionRow, columns: u16) -> Lines {
    let Some(asked) = was_asking(session) else { return Vec::new() };
    let theme = model.theme;
    let text = beginning(&format!("? asked when it was paused: {asked}"), columns, TEXT_ROWS - 1);
    let shown = text.into_iter().map(|line| (line, theme.tone(Tone::Attention)));
    let key = model.key(Place::List, Command::Send);
    let next = (format!("  {key} tells it how to go on"), theme.faint());
    shown.chain(std::iter::once(next)).collect()
}

/// When and why it was paused, what it did last, and up to three things that it was to do.
fn paused(session: &SessionRow, now: Now) -> Vec<String> {
    let when = match session.paused_at.as_deref().map(|at| since(at, now)).as_deref() {
        Some("now") => "just now".to_owned(),
        Some(age) => format!("{age} ago"),
        None => String::new(),
    };
    let why = session.pause_reason.map(|reason| format!(" · {}", pages::word(reason)));
    let again = session.resume_at.as_ref().map(|at| format!(" · resumes at {at}"));
    let mut lines = vec![format!(
        "⏸ PAUSED  Paused {when}{}{}",
        why.unwrap_or_default(),
        again.unwrap_or_default()
    )];
    lines.extend(session.last_action.as_ref().map(|action| format!("  Last Action: {action}")));
    if !session.pending_tasks.is_empty() {
        let tasks = session.pending_tasks.iter().take(3).cloned().collect::<Vec<_>>();
        lines.push(format!("  Pending: {}", tasks.join(" · ")));
    }
    lines
}

fn page(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    let room = area.width.saturating_sub(1);
    match &model.pane.page {
        Page::Empty => return,
        Page::Loading => {
            pen.put(area.x, area.y, room, "…", theme.faint());
            return;
        }
        Page::Fault(told) => {
            return pen.told(Rect { width: room, ..area }, told, theme.tone(Tone::Bad));
        }
        Page::Shown(_) => {}
    }
    let rows = &model.pane.sheet.rows;
    let most = rows.len().saturating_sub(usize::from(area.height));
    // The line that is chosen, if one is, stays in sight.
    let chosen = if let Mode::Pick { at } = model.mode { Some(at) } else { None };
    let follow = chosen.map(|at| at.saturating_sub(usize::from(area.height) / 2));
    let first = follow.unwrap_or(model.pane.scroll).min(most);
    let in_hand = match model.mode {
        Mode::View { .. } => model.pane.reader.selected(),
        _ => chosen.map_or(0..0, |at| at..at + 1),
    };
    for (y, (at, row)) in (area.y..area.bottom()).zip(rows.iter().enumerate().skip(first)) {
        let mut x = area.x;
        for (text, style) in row {
            x = pen.put_cut(x, y, (area.x + room).saturating_sub(x), text, *style);
        }
        if row.iter().map(|(text, _)| usize::from(width(text))).sum::<usize>() > usize::from(room) {
            pen.put(area.x + room, y, 1, CUT, theme.line());
        }
        if in_hand.contains(&at) {
            pen.tint(Rect { y, height: 1, ..area }, theme.lifted());
        }
    }
    if most > 0 && first < most {
        let below = format!("↓ {} more", most - first);
        pen.put_over(area.right(), area.bottom().saturating_sub(1), 16, &below, theme.accent());
    }
}
