//! What a command does to the model.

use super::acts::{View, act, ask, confirm, each, is_for_removed, refuses};
use super::tabs::{show_nth, turn_tab};
use super::{
    SETTLE_MS, asking, executing, house, inline, new, past, plan, reader, said, send, words,
};
use crate::command::{Command, Way};
use crate::deed::{Deed, PauseWith, Reply};
use crate::editor::Editor;
use crate::message::{Effect, Tab};
use crate::model::{Done, End, Link, Mode, Model, Order, Repeat, Sure, Towards, Zoom, pauses_of};
use crate::wanted::Wanted;
use glis_core::Status;
use glis_core::input::IfRunning;
use glis_core::pause::{OnTimeout, PauseMode};
use glis_core::plan::Ruling;
use glis_core::tree::Clearing;

/// As many lines as a key that scrolls goes on.
const PAGE: isize = 10;

/// What was done longer ago is not undone without a question: it is not what a hand is still at.
const UNDO_MS: u64 = 60_000;

/// It goes on where it was.
const RESUME: Deed = Deed::Resume { prompt: None };

#[expect(clippy::too_many_lines, reason = "every command is named once")]
pub(super) fn run(model: &mut Model, command: Command) {
    let is_done = match model.mode {
        Mode::Past { .. } => past::run(model, command),
        Mode::View { .. } => reader::run(model, command),
        _ => false,
    };
    if is_done || is_for_removed(model, command) {
        return;
    }
    match command {
        Command::Down => step(model, 1),
        Command::Up => step(model, -1),
        Command::Top => step(model, isize::MIN / 2),
        Command::Bottom => step(model, isize::MAX / 2),
        Command::ScrollDown | Command::ScrollUp => turn_page(model, command),
        Command::NextWaiting => next_waiting(model),
        Command::Asks => asking::open(model),
        Command::Attach => attach(model),
        Command::Inline => inline::begin(model),
        Command::Copy => copy_shown(model),
        Command::NextPart => reader::turn_part(model, Towards::Newer),
        Command::FormerPart => reader::turn_part(model, Towards::Older),
        Command::Read => reader::open(model),
        Command::Zoom => zoom(model),
        Command::NextFound
        | Command::FormerFound
        | Command::HalfDown
        | Command::HalfUp
        | Command::Open
        | Command::Remark => {}
        Command::Send => send::open(model),
        Command::SendFile => send::open_file(model),
        Command::New => new::open(model, Repeat::Once),
        Command::NewLoop => new::open(model, Repeat::Loop),
        Command::Execute => plan::open(model),
        Command::Pause => pause(model),
        Command::TogglePause => toggle_pause(model),
        Command::Resume => resume(model),
        Command::Stop => confirm(model, |_| Deed::Stop),
        Command::Restart => confirm(model, restart),
        Command::Rule(ruling) => rule(model, ruling),
        Command::Remove => confirm(model, removal),
        Command::Snapshot => each(model, |_| Some(Deed::Snapshot)),
        Command::Compact => each(model, |_| Some(Deed::Compact)),
        Command::Acknowledge => each(model, |_| Some(Deed::Acknowledge)),
        Command::Merge => merge(model),
        Command::AutoYes => auto_yes(model),
        Command::Pin => each(model, |session| Some(Deed::Pin { on: !session.pinned })),
        Command::Timeout => words::open(model, Wanted::Timeout),
        Command::Label => words::open(model, Wanted::Labels),
        Command::Budget => words::open(model, Wanted::Budget),
        Command::Snooze => words::open(model, Wanted::Snooze),
        Command::ResumeWith => words::open(model, Wanted::ResumeWords),
        Command::MergeInto => words::open(model, Wanted::MergeInto),
        Command::PauseFor => words::open(model, Wanted::PauseFor),
        Command::LoopMax => words::open(model, Wanted::LoopMax),
        Command::Restore => words::choose_snapshot(model),
        Command::PauseIn(way) => pause_in(model, way),
        Command::DenyBecause => asking::deny_because(model),
        Command::Trash | Command::Judged => house::open(model, command),
        Command::Search => model.mode = Mode::Search(Box::default()),
        Command::PauseAll | Command::ResumeAll | Command::ResumeAllFromLog => {
            house::ask_all(model, command);
        }
        Command::Allow => asking::answer(model, Reply::Allow),
        Command::AllowForSession => asking::answer(model, Reply::AllowForSession),
        Command::Deny => asking::answer(model, Reply::Deny),
        Command::Mark => mark(model),
        Command::MarkRange => mark_range(model),
        Command::NextTab => turn_tab(model, 1),
        Command::FormerTab => turn_tab(model, Tab::ALL.len() - 1),
        Command::Tab(at) => show_nth(model, at),
        Command::Filter => {
            model.effects.push(Effect::FindChoices);
            model.mode = Mode::Filter;
        }
        Command::Order | Command::Fold => arrange(model, command),
        Command::Palette => model.mode = Mode::Palette { words: Editor::default(), at: 0 },
        Command::Undo => undo(model),
        Command::History => model.mode = Mode::History { words: Editor::default() },
        Command::Help => open_help(model),
        Command::Close => close(model),
        Command::MoreIterations | Command::FewerIterations => {
            executing::count(model, command);
        }
        Command::Interrupt => executing::interrupt(model),
        Command::Quit => model.effects.push(Effect::Quit),
        Command::Suspend => model.effects.push(Effect::Suspend),
        Command::Redraw => model.effects.push(Effect::Redraw),
    }
}

/// Shows the list by need or by repository, with what rests or without.
fn arrange(model: &mut Model, command: Command) {
    let list = &mut model.list;
    match (command, list.order) {
        (Command::Order, Order::Need) => list.order = Order::Repository,
        (Command::Order, Order::Repository) => list.order = Order::Need,
        _ => (list.folds, list.fold_chosen) = (!list.folds, true),
    }
    model.put_in_order();
}

fn open_help(model: &mut Model) {
    let behind = Box::new(std::mem::replace(&mut model.mode, Mode::List));
    model.mode = Mode::Help { scroll: 0, behind, words: None };
}

/// Moves the hand, in the list or among the questions. What stood below a session that was removed has its place.
pub(super) fn step(model: &mut Model, by: isize) {
    if let Mode::Asks { .. } = model.mode {
        return asking::step(model, by);
    }
    let is_there = |id: &&String| model.rows.all.contains_key(*id);
    let there: Vec<String> = model.list.ids().filter(is_there).cloned().collect();
    let place = model.place().map(|place| model.list.ids().take(place).filter(is_there).count());
    let by = if by > 0 && model.removed_in_hand().is_some() { by - 1 } else { by };
    model.hand.selected = there.get(moved(place, by, there.len())).cloned();
    if there.is_empty() {
        model.put_in_order();
    }
    model.list.settles_at = model.list.settles_at.map(|_| model.now.ms + SETTLE_MS);
    if let Some(from) = model.list.range.clone() {
        mark_between(model, &from);
    }
}

fn moved(place: Option<usize>, by: isize, count: usize) -> usize {
    let last = count.saturating_sub(1);
    place.map_or(0, |place| place.saturating_add_signed(by).min(last))
}

/// The session in hand gets all of the screen, none, or a part of it.
fn zoom(model: &mut Model) {
    model.pane.zoom = model.pane.zoom.next();
    if model.pane.zoom == Zoom::List && matches!(model.mode, Mode::View { .. }) {
        model.mode = Mode::List;
    }
}

/// Copies what is in sight, whole rows however wide they are.
fn copy_shown(model: &mut Model) {
    let lines = match crate::view::rows_in_sight(model) {
        Some(rows) => reader::text_of(model, rows),
        None => crate::view::shown_text(model),
    };
    super::copy(model, lines.join("\n"), lines.len());
}

pub(super) fn scroll(model: &mut Model, by: isize) {
    let most = crate::view::scroll_max(model);
    model.pane.scroll = model.pane.scroll.min(most).saturating_add_signed(by).min(most);
}

/// To the next session that waits, round and round.
fn next_waiting(model: &mut Model) {
    if matches!(model.mode, Mode::Asks { .. }) {
        return step(model, 1);
    }
    let from = model.place().map_or(0, |place| place + 1);
    let waits = |id: &&String| {
        let session = model.rows.all.get(*id);
        session.is_some_and(|s| s.asks_a_person() && s.snoozed_until.is_none())
    };
    let next =
        model.list.ids().skip(from).find(waits).or_else(|| model.list.ids().find(waits)).cloned();
    match next {
        Some(next) => model.hand.selected = Some(next),
        None => said(model, "nothing waits for you".to_owned()),
    }
}

/// The session that a command is about: that of the question in hand, else the one in hand.
fn meant(model: &Model) -> Option<String> {
    if let Mode::Asks { at: Some((id, _)) } = &model.mode {
        return Some(id.clone());
    }
    model.hand.selected.clone()
}

fn attach(model: &mut Model) {
    if model.house.link == Link::Stopped {
        return model.effects.push(Effect::StartDaemon);
    }
    // What is typed there reaches the agent.
    if refuses(model) {
        return;
    }
    if let Some(id) = meant(model) {
        model.hand.selected = Some(id.clone());
        model.effects.push(Effect::Attach { id });
    }
}

/// Asks before the work of a session is merged: into what, and what becomes of that.
pub(super) fn merge(model: &mut Model) {
    confirm(model, |_| Deed::Merge { branch: None, hooks: false });
    let Mode::Confirm { sure: Sure::Each { ids, .. }, question } = &mut model.mode else { return };
    let [id] = ids.as_slice() else { return };
    let (Some(session), base) = (model.rows.all.get(id), model.rows.bases.get(id)) else { return };
    let name = &session.name;
    let into = match base {
        Some(branch) => format!("`{branch}`"),
        None => "the branch that it began from".to_owned(),
    };
    let changed = model.rows.changes.get(id).filter(|files| **files > 0);
    let changed = changed.map_or_else(String::new, |files| match files {
        1 => " (1 file differs)".to_owned(),
        files => format!(" ({files} files differ)"),
    });
    *question = format!(
        "Commit the work of `{name}`{changed} and merge it into {into}? No checkout is touched: where that branch is \
         checked out, the result is a branch of its own, to be merged there."
    );
}

/// Pauses in a way that is not the usual one.
fn pause_in(model: &mut Model, way: Way) {
    let clears = |clearing| PauseWith { clearing: Some(clearing), ..PauseWith::USUAL };
    let late = |on_timeout| PauseWith { on_timeout: Some(on_timeout), ..PauseWith::USUAL };
    let with = match way {
        Way::AfterTurn => PauseWith { mode: Some(PauseMode::Boundary), ..PauseWith::USUAL },
        Way::Removing => clears(Clearing::IfAllIsSaved),
        Way::Keeping => clears(Clearing::Keep),
        Way::OrForce => late(OnTimeout::Force),
        Way::OrLeave => late(OnTimeout::Refuse),
        Way::Clearing => {
            let with = clears(Clearing::Always);
            return confirm(model, |_| Deed::Pause(with));
        }
    };
    each(model, |_| Some(Deed::Pause(with)));
}

/// A second press asks whether it may be stopped at once.
fn pause(model: &mut Model) {
    let pausing = model.session().is_some_and(|session| session.status == Status::Pausing);
    if pausing && model.list.marked.is_empty() {
        return confirm(model, |_| Deed::Pause(PauseWith::FORCED));
    }
    each(model, |session| Some(executing::usual_pause(session)));
}

/// The other way round than it is, or than it was asked to be a moment ago. Who gives the answers away is asked.
fn auto_yes(model: &mut Model) {
    let asked = |deed: &Deed| if let Deed::AutoYes { on } = deed { Some(*on) } else { None };
    let is_on = |id: &String| {
        let known = model.rows.all.get(id).is_some_and(|session| session.auto_yes);
        model.work.asked_of(id, asked).unwrap_or(known)
    };
    if model.targets().iter().all(is_on) {
        return each(model, |_| Some(Deed::AutoYes { on: false }));
    }
    confirm(model, |_| Deed::AutoYes { on: true });
}

/// One key for all states. A pause that was asked for a moment ago is shown, and counts, before it is known to have
/// begun.
fn toggle_pause(model: &mut Model) {
    let asked = |deed: &Deed| {
        let is_one = matches!(deed, Deed::Pause(_) | Deed::CancelPause);
        let is_forced = *deed == Deed::Pause(PauseWith::FORCED);
        (is_one && !is_forced).then(|| *deed != Deed::CancelPause)
    };
    let pauses = |id: &String| model.work.asked_of(id, asked) == Some(true);
    let pausing: Vec<String> = model.targets().into_iter().filter(pauses).collect();
    let deed = |session: &View| {
        let cancels = session.status != Status::Paused && pausing.contains(&session.id);
        if cancels { Some(Deed::CancelPause) } else { toggled(session) }
    };
    each(model, deed);
}

/// What it does in each of them: a pause that is still waited for is cancelled.
fn toggled(session: &View) -> Option<Deed> {
    match session.looped.as_deref().map(|own| own.state.as_str()) {
        Some("pausing") if session.status != Status::Paused => return Some(Deed::CancelPause),
        Some("paused") => return Some(RESUME),
        Some(_) | None => {}
    }
    Some(match session.status {
        Status::Pausing => Deed::CancelPause,
        Status::Paused => RESUME,
        Status::Created
        | Status::Busy
        | Status::Idle
        | Status::Waiting
        | Status::Resuming
        | Status::Suspended
        | Status::Interrupted
        | Status::Completed
        | Status::Failed => executing::usual_pause(session),
        Status::Archived => return None,
    })
}

/// What waits goes on by an answer, everything else by a resume.
fn resume(model: &mut Model) {
    let waits = model.session().is_some_and(|session| session.status == Status::Waiting);
    if model.list.marked.is_empty() && waits {
        return asking::open(model);
    }
    each(model, |_| Some(RESUME));
}

/// A task of a plan gets a new run; any other session a fresh conversation.
pub(super) fn restart(session: &View) -> Deed {
    let place = session.repo_root.clone();
    match session.task.clone() {
        Some(task) => Deed::RestartTask { place, task },
        None => Deed::Restart { with_context: false },
    }
}

/// Shows what is above or below of what is open: of a terminal, its past.
fn turn_page(model: &mut Model, command: Command) {
    let up = command == Command::ScrollUp;
    if matches!(model.mode, Mode::Asks { .. }) {
        asking::scroll(model, command);
    } else if up && model.shown_tab() == Tab::Terminal {
        past::begin(model, PAGE.unsigned_abs());
    } else {
        scroll(model, if up { -PAGE } else { PAGE });
    }
}

/// Says what becomes of the task that a session works on.
fn rule(model: &mut Model, ruling: Ruling) {
    let Some(session) = model.session() else { return };
    let (name, place) = (session.name.clone(), session.repo_root.clone());
    let Some(task) = session.task.clone() else {
        return said(model, format!("`{name}` works on no task"));
    };
    confirm(model, |_| Deed::RuleTask { place: place.clone(), task: task.clone(), ruling });
}

pub(super) fn removal(session: &View) -> Deed {
    let running = if session.pid.is_some() { IfRunning::Stop } else { IfRunning::Refuse };
    Deed::Remove { running }
}

fn mark(model: &mut Model) {
    let Some(id) = model.hand.selected.clone() else { return };
    model.list.range = None;
    if !model.list.marked.remove(&id) {
        model.list.marked.insert(id);
    }
    step(model, 1);
}

fn mark_range(model: &mut Model) {
    model.list.range = if model.list.range.is_some() { None } else { model.hand.selected.clone() };
    model.list.marked.extend(model.list.range.clone());
}

fn mark_between(model: &mut Model, from: &str) {
    let ids: Vec<String> = model.list.ids().cloned().collect();
    let begin = ids.iter().position(|id| id == from);
    let (Some(begin), Some(end)) = (begin, model.place()) else { return };
    let (low, high) = (begin.min(end), begin.max(end));
    let between = ids.into_iter().skip(low).take(high - low + 1);
    model.list.marked = between.filter(|id| model.rows.all.contains_key(id)).collect();
}

/// Undoes what was done last. What is not in hand or was done a while ago is named first.
fn undo(model: &mut Model) {
    let undoable = |done: &&Done| {
        done.end == End::Well && done.deed.as_ref().is_some_and(|deed| deed.undone().is_some())
    };
    // What was done last is what is meant: while that goes on, nothing older is undone in its place.
    let goes_on = |done: &&Done| done.end == End::NotYet && done.deed.is_some();
    if let Some(line) = model.work.history.iter().rev().find(goes_on).map(|done| done.line.clone())
    {
        return said(model, format!("`{line}` is still under way"));
    }
    let Some(last) = model.work.history.iter().rev().find(undoable) else {
        return said(model, "nothing to undo".to_owned());
    };
    let (ticket, ago) = (last.ticket, model.now.ms.saturating_sub(last.at));
    let now = last.id.as_ref().and_then(|id| model.rows.all.get(id)).map(pauses_of);
    if last.left.as_ref().zip(now).is_some_and(|(left, now)| *left != now) {
        let message = format!("`{}` was paused or resumed since: nothing is undone", last.name);
        // The next press goes further back.
        model
            .work
            .history
            .iter_mut()
            .filter(|done| done.ticket == ticket)
            .for_each(|done| done.deed = None);
        return said(model, message);
    }
    if ago <= UNDO_MS && last.id == model.hand.selected {
        return undo_now(model, ticket);
    }
    let what = last.deed.as_ref().and_then(Deed::undone).map(|(what, _)| what).unwrap_or_default();
    let when = match ago / 60_000 {
        0 => "just now".to_owned(),
        minutes => format!("{minutes} min ago"),
    };
    let question = format!("Undo the {what} of `{}`, {when}?", last.name);
    ask(model, Sure::Undo { ticket }, question);
}

pub(super) fn undo_now(model: &mut Model, ticket: u64) {
    if refuses(model) {
        return;
    }
    let Some(last) = model.work.history.iter_mut().find(|done| done.ticket == ticket) else {
        return;
    };
    let inverse = last.deed.as_ref().and_then(Deed::undone);
    if let (Some(id), Some((_, inverse))) = (last.id.clone(), inverse) {
        last.end = End::Undone;
        act(model, &id, inverse);
        // What undoes is not undone by the next press: that goes further back.
        if let Some(newest) = model.work.history.last_mut() {
            newest.deed = None;
        }
    }
}

fn close(model: &mut Model) {
    if model.mode != Mode::List {
        model.mode = Mode::List;
    } else if !model.list.marked.is_empty() || model.list.range.is_some() {
        model.list.unmark();
    } else if model.notice.is_some() {
        model.notice = None;
    } else if !model.list.filter.text().is_empty() {
        model.list.filter = Editor::default();
        model.put_in_order();
    }
}
