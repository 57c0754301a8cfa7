//! The list: a line for each session, under what it needs or under its repository.

use super::bars::{AUTO_YES, wheel};
use super::pen::{Pen, width};
use super::{course, question};
use crate::command::Command;
use crate::keymap::Place;
use crate::model::{Line, Link, Model, Order, folder_of, was_asking};
use glis_client::labels::{self, CUT_OFF, KEPT, Tone};
use glis_core::Status;
use glis_wire::need::Need;
use glis_wire::view::SessionRow;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use std::ops::Range;

/// Stands before what is pinned.
const PINNED: &str = "^";
/// A name that is made from a prompt is at most so long; one that is longer is cut.
const NAME_COLUMNS: u16 = 32;
/// The longest word for a status.
const STATUS_COLUMNS: u16 = 11;
const AGE_COLUMNS: u16 = 4;
/// The tasks of a plan stand so much further to the right than the plan.
const INDENT: u16 = 2;
/// Less than this says nothing.
const NOTE_COLUMNS_MIN: u16 = 6;
/// With so many columns there is room for the agent, and for numbers.
const ROOMY: u16 = 76;
/// With so many there is room for words that a mark tells as well.
const WIDE: u16 = 100;
const AGENT_COLUMNS: u16 = 9;
/// Numbers and branches leave at least so much to words.
const WORDS_COLUMNS: u16 = 30;
/// As much of a branch as is told.
const BRANCH_COLUMNS: u16 = 32;

/// A number that is told of every session, in a column of its own.
#[derive(Clone, Copy)]
enum Number {
    Changed,
    Memory,
    Cost,
}

impl Number {
    /// What is wanted first.
    const ALL: [Self; 3] = [Self::Changed, Self::Memory, Self::Cost];

    fn columns(self) -> u16 {
        match self {
            Self::Changed | Self::Memory => 5,
            Self::Cost => 7,
        }
    }

    /// None where it is not known.
    fn of(self, model: &Model, session: &SessionRow) -> Option<String> {
        match self {
            Self::Changed => {
                let files = model.rows.changes.get(&session.id).filter(|files| **files > 0);
                files.map(|files| format!("±{files}"))
            }
            Self::Memory => {
                session.memory_bytes.map(|bytes| format!("{}M", bytes.div_ceil(1024 * 1024)))
            }
            Self::Cost => {
                let cost = session.cost.and_then(|used| used.usd);
                cost.map(|dollars| format!("${dollars:.2}"))
            }
        }
    }

    /// Those that are known of any session and that there is room for.
    fn shown(model: &Model, mut room: u16) -> Vec<Self> {
        let known =
            |number: &Self| model.rows.all.values().any(|one| number.of(model, one).is_some());
        let fits = |number: &Self| {
            let left = room.checked_sub(number.columns() + 1).filter(|left| *left >= WORDS_COLUMNS);
            room = left.unwrap_or(room);
            left.is_some()
        };
        Self::ALL.into_iter().filter(known).filter(fits).collect()
    }
}

struct Columns {
    name: u16,
    /// None where the head of the group says it, or there is no other.
    repository: Option<u16>,
    /// None where the mark has to say it.
    status: Option<u16>,
    /// None where there is no room for it.
    branch: Option<u16>,
    numbers: Vec<Number>,
}

/// The blanks between a name and what stands behind it: two, so that they do not read as one, where there is room.
fn gap(columns: u16) -> u16 {
    if columns >= ROOMY { 2 } else { 1 }
}

/// Whether a session's line, which has this number, belongs to the plan above it.
fn is_below_plan(model: &Model, session: &SessionRow, at: usize) -> bool {
    let above = model.list.lines.iter().take(at).rfind(|line| line.session().is_none());
    matches!(above, Some(Line::Plan(plan)) if session.plan.as_ref() == Some(plan))
}

/// How much of the branches is told where so much is left for them and for words.
fn branch_columns(model: &Model, room: u16) -> Option<u16> {
    let branches = model.rows.all.values().filter_map(|session| session.branch.as_deref());
    let longest = branches.map(width).max()?;
    let left = room.checked_sub(WORDS_COLUMNS + 1)?;
    Some(longest.min(BRANCH_COLUMNS)).filter(|most| *most <= left)
}

/// How much of the names of repositories is told, where there are several and no heads for them.
fn repository_columns(model: &Model) -> Option<u16> {
    let all = || model.rows.all.values();
    let first = all().next().map(|session| &session.repo_root);
    let several = all().any(|session| Some(&session.repo_root) != first);
    let told = several && model.list.order == Order::Need;
    let longest = all().map(|session| width(folder_of(&session.repo_root))).max()?;
    told.then_some(longest.min(STATUS_COLUMNS))
}

pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    if model.list.lines.is_empty() {
        return nothing(model, pen, area);
    }
    let first = first_line(model, area.height);
    let indent = |session: &SessionRow| if session.plan.is_some() { INDENT } else { 0 };
    let names = model.rows.all.values().map(|session| width(&session.name) + indent(session));
    let names = names.max().unwrap_or(0);
    // Under its group the mark tells the status.
    let worded = model.list.order == Order::Repository || area.width >= WIDE;
    let status = worded.then_some(STATUS_COLUMNS);
    let beside = status.map_or(0, |columns| columns + 1);
    let room = area.width.saturating_sub(4 + beside + AGE_COLUMNS + 1);
    // A narrow list leaves a third of itself to what is said of a session, a wide one more.
    let most = if area.width >= ROOMY { area.width * 2 / 5 } else { area.width / 3 };
    let name = names.min(NAME_COLUMNS).min(most).min(room).max(4);
    let roomy = area.width >= ROOMY;
    let repo = repository_columns(model);
    let beside = repo.filter(|_| roomy).map_or(0, |columns| columns + gap(area.width));
    let room = room.saturating_sub(name + AGENT_COLUMNS + 2 * gap(area.width) + beside);
    let numbers = if roomy { Number::shown(model, room) } else { Vec::new() };
    let told: u16 = numbers.iter().map(|number| number.columns() + 1).sum();
    let branch =
        (area.width >= WIDE).then(|| branch_columns(model, room.saturating_sub(told))).flatten();
    let columns = Columns { name, repository: repo, status, branch, numbers };
    let lines = model.list.lines.iter().enumerate().skip(first);
    for (y, (at, line)) in (area.y..area.bottom()).zip(lines) {
        let row = Rect { y, height: 1, ..area };
        match line {
            Line::Gap => {}
            Line::Repository { repo, sessions } => repository(model, pen, row, repo, *sessions),
            Line::Group { need, sessions } => group(model, pen, row, *need, *sessions),
            Line::Folded(counts) => {
                let key = model.key(Place::List, Command::Fold);
                let text = format!("▸ {counts}  {key} shows them");
                pen.put(row.x + 2, row.y, row.width.saturating_sub(3), &text, model.theme.faint());
            }
            Line::Plan(plan) => course::plan_line(model, pen, row, plan),
            Line::Session(id) => {
                if let Some(session) = model.rows.all.get(id) {
                    let indent = if is_below_plan(model, session, at) { INDENT } else { 0 };
                    session_line(model, pen, row, session, (&columns, indent));
                } else if let Some(removed) =
                    model.list.removed.as_ref().filter(|own| own.id == *id)
                {
                    removed_line(model, pen, row, &removed.name);
                }
            }
        }
    }
}

/// Which lines of the list are seen, of how many.
pub(super) fn seen(model: &Model, area: Rect) -> (Range<usize>, usize) {
    let (first, lines) = (first_line(model, area.height), model.list.lines.len());
    (first..(first + usize::from(area.height)).min(lines), lines)
}

pub(super) fn in_sight(model: &Model, area: Rect) -> Vec<String> {
    (area.y..area.bottom()).filter_map(|row| at(model, area, row)).collect()
}

pub(super) fn at(model: &Model, area: Rect, row: u16) -> Option<String> {
    let first = first_line(model, area.height);
    model.list.lines.get(first + usize::from(row.checked_sub(area.y)?))?.session().cloned()
}

/// The line at the top: the one in hand stays in the middle where the list is longer than its place.
fn first_line(model: &Model, rows: u16) -> usize {
    let rows = usize::from(rows);
    let selected = model.hand.selected.as_ref();
    let is_selected = |line: &Line| line.session().is_some_and(|id| Some(id) == selected);
    let at = model.list.lines.iter().position(is_selected).unwrap_or(0);
    at.saturating_sub(rows / 2).min(model.list.lines.len().saturating_sub(rows))
}

fn nothing(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    let lines: Vec<(String, _)> = match &model.house.link {
        Link::Connecting => vec![("connecting…".to_owned(), theme.faint())],
        Link::Lost(told) => vec![
            (told.message.clone(), theme.tone(Tone::Bad)),
            (told.hint.clone().unwrap_or_default(), theme.faint()),
        ],
        Link::Stopped => vec![("the daemon was stopped".to_owned(), theme.tone(Tone::Bad))],
        Link::Live if !model.list.filter.text().is_empty() => {
            vec![("no matches".to_owned(), theme.faint())]
        }
        Link::Live => first_steps(model).map(|line| (line, theme.text())).into(),
    };
    let rows = u16::try_from(lines.len()).unwrap_or(0);
    let top = area.y + area.height.saturating_sub(rows) / 3;
    for (y, (text, style)) in (top..area.bottom()).zip(lines) {
        let x = area.x + area.width.saturating_sub(width(&text)) / 2;
        pen.put(x.max(area.x + 1), y, area.width.saturating_sub(2), &text, style);
    }
}

/// What to do where there is nothing yet.
fn first_steps(model: &Model) -> [String; 3] {
    let begin = match &model.folders.here {
        Some(_) => {
            let key = model.key(Place::List, Command::New);
            format!("{key} starts an agent in a worktree of its own")
        }
        None => "start glis inside a git repository".to_owned(),
    };
    ["No sessions yet.".to_owned(), begin, "`glis demo` shows all of it in a minute".to_owned()]
}

fn group(model: &Model, pen: &mut Pen<'_>, row: Rect, need: Need, sessions: usize) {
    let theme = model.theme;
    let toned = match need {
        Need::You => theme.tone(Tone::Attention),
        Need::Failed => theme.tone(Tone::Bad),
        Need::New | Need::Working | Need::Idle | Need::Rest => theme.text(),
    };
    head(model, pen, row, (need.words(), toned), &sessions.to_string());
}

fn repository(model: &Model, pen: &mut Pen<'_>, row: Rect, repo: &str, sessions: usize) {
    let (folder, name) = repo.rsplit_once('/').unwrap_or(("", repo));
    let rest = format!("{sessions}  {}", super::detail::homely(model, folder));
    head(model, pen, row, (name, model.theme.text()), &rest);
}

/// The head of a group: its name, and quietly what else there is to it.
fn head(model: &Model, pen: &mut Pen<'_>, row: Rect, (name, toned): (&str, Style), rest: &str) {
    let bold = toned.add_modifier(Modifier::BOLD);
    let x = pen.put(row.x + 1, row.y, row.width.saturating_sub(2), name, bold);
    pen.put(x + 1, row.y, row.right().saturating_sub(x + 2), rest, model.theme.faint());
}

/// The place of a session that was removed while it was in hand.
fn removed_line(model: &Model, pen: &mut Pen<'_>, row: Rect, name: &str) {
    let theme = model.theme;
    if model.removed_in_hand().is_some() {
        pen.tint(row, theme.lifted());
        pen.put(row.x, row.y, 1, "▌", theme.accent());
    }
    let text = format!("{name} was removed");
    pen.put(row.x + 4, row.y, row.width.saturating_sub(5), &text, theme.faint());
}

fn session_line(
    model: &Model,
    pen: &mut Pen<'_>,
    row: Rect,
    session: &SessionRow,
    (columns, indent): (&Columns, u16),
) {
    let theme = model.theme;
    let selected = model.hand.selected.as_ref() == Some(&session.id);
    if selected {
        pen.tint(row, theme.lifted());
    }
    let badge = model.rows.plans.badge(session);
    let toned = theme.tone(badge.tone);
    let marked = model.list.marked.contains(&session.id);
    let sign = if marked {
        "*"
    } else if selected {
        "▌"
    } else {
        " "
    };
    pen.put(row.x, row.y, 1, sign, theme.accent());
    pen.put(row.x + 1, row.y, 1, if session.pinned { PINNED } else { "" }, theme.accent());
    pen.put(row.x + 2, row.y, 1, &badge.mark.to_string(), toned);
    let auto_yes = if session.auto_yes { AUTO_YES } else { "" };
    pen.put(row.x + 3, row.y, 1, auto_yes, theme.tone(Tone::Attention));
    let weight = if selected { Modifier::BOLD } else { Modifier::empty() };
    let (name, room) = (row.x + 4 + indent, columns.name.saturating_sub(indent));
    pen.put(name, row.y, room, &session.name, theme.text().add_modifier(weight));
    let gap = gap(row.width);
    let mut x = row.x + 4 + columns.name + gap;
    if let Some(most) = columns.repository {
        pen.put(x, row.y, most, folder_of(&session.repo_root), theme.faint());
        x += most + gap;
    }
    if let Some(most) = columns.status {
        pen.put(x, row.y, most, badge.word, toned);
        x += most + 1;
    }
    let mut end = row.right().saturating_sub(1);
    let age = model.age_of(session);
    pen.put_right(end, row.y, AGE_COLUMNS, &age, theme.faint());
    end = end.saturating_sub(AGE_COLUMNS + 1);
    for number in columns.numbers.iter().rev() {
        let text = number.of(model, session).unwrap_or_default();
        pen.put_right(end, row.y, number.columns(), &text, theme.faint());
        end = end.saturating_sub(number.columns() + 1);
    }
    if row.width >= ROOMY {
        pen.put(x, row.y, AGENT_COLUMNS, &session.agent, theme.faint());
        x += AGENT_COLUMNS + gap;
    }
    if let Some(most) = columns.branch {
        pen.put(x, row.y, most, session.branch.as_deref().unwrap_or("-"), theme.faint());
        x += most + 1;
    }
    let mut room = end.saturating_sub(x);
    let labels: Vec<String> = session.labels.iter().map(|label| format!("#{label}")).collect();
    if !labels.is_empty() && room >= NOTE_COLUMNS_MIN {
        x = pen.put(x, row.y, room, &labels.join(" "), theme.faint()) + 1;
        room = end.saturating_sub(x);
    }
    // A word or two, or nothing: a sign that something was cut off tells nothing.
    let note = note(model, session, (room, columns.status));
    if let Some((text, tone)) = note.filter(|_| room >= NOTE_COLUMNS_MIN) {
        pen.put(x, row.y, room, &text, theme.tone(tone));
    }
}

/// What is said of it in so many columns, beside its status where that has a column.
fn note(
    model: &Model,
    session: &SessionRow,
    (room, status): (u16, Option<u16>),
) -> Option<(String, Tone)> {
    if let Some(under_way) = model.work.latest_with(&session.id) {
        return Some((format!("{} {}", wheel(model), under_way.label), Tone::Attention));
    }
    if session.status == Status::Pausing {
        return Some((format!("{} PAUSING...", wheel(model)), Tone::Attention));
    }
    if session.status == Status::Resuming {
        return Some((format!("{} resuming", wheel(model)), Tone::Attention));
    }
    if let Some(snoozed) = labels::snoozed(session) {
        return Some((snoozed, Tone::Calm));
    }
    if let Some(ask) = &session.waiting_for {
        return Some((question::in_short(session, ask), Tone::Attention));
    }
    if let Some(asked) = was_asking(session) {
        return Some((format!("asked when it was paused: {asked}"), Tone::Attention));
    }
    let broken = session.status == Status::Interrupted;
    if let Some(why) = session.failure.as_ref().or(broken.then_some(&session.verdict)) {
        return Some((why.clone(), Tone::Bad));
    }
    if session.status == Status::Idle && session.cut_off {
        return Some((CUT_OFF.to_owned(), Tone::Attention));
    }
    let tasks = super::status::counts(session).map_or_else(String::new, |all| format!(" {all}"));
    if let Some(own) = &session.looped {
        let broke = if own.broke.is_some() { Tone::Bad } else { Tone::Calm };
        let all = format!("{}{tasks}", course::of_loop(own, room));
        let text = if width(&all) > room { course::of_loop(own, room) } else { all };
        return Some((text, broke));
    }
    // Behind a loop's place: its own words are queued as well.
    if session.queued > 0 {
        return Some((format!("({} queued)", session.queued), Tone::Calm));
    }
    if session.process_kept {
        return Some((KEPT.to_owned(), Tone::Calm));
    }
    if !model.drafts.text(&session.id).is_empty() {
        return Some(("✎ not sent yet".to_owned(), Tone::Calm));
    }
    if let Some(task) = &session.task {
        let badge = model.rows.plans.badge(session);
        if status.is_none() && badge.word != session.status.word() {
            return Some((badge.word.to_owned(), badge.tone));
        }
        return Some((format!("task {task}{tasks}"), Tone::Calm));
    }
    session.last_action.clone().map(|action| (action, Tone::Faint))
}
