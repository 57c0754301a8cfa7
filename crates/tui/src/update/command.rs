//! What a command does to the model.

use super::acts::{View, act, confirm, each, of_all, refuses};
use super::tabs::{show_nth, turn_tab};
use super::{SETTLE_MS, drafts, executing, house, inline, new, past, said, send, words};
use crate::command::{Command, Way};
use crate::deed::{Deed, PauseWith, Reply, pause_all, resume_all, resume_all_from_log};
use crate::editor::Editor;
use crate::keymap::Place;
use crate::message::{Effect, Tab};
use crate::model::{Done, End, Mode, Model};
use crate::wanted::Wanted;
use glis_core::Status;
use glis_core::input::IfRunning;
use glis_core::pause::{OnTimeout, PauseMode};
use glis_core::talk::AskKind;
use glis_core::tree::Clearing;
use std::collections::BTreeMap;

/// As many lines as a key that scrolls goes on.
const PAGE: isize = 10;

const RESUMING_ALL: &str = "resuming everything";

/// Carries a command out.
pub(super) fn run(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    if matches!(model.mode, Mode::Past { .. }) && past::run(model, command, effects) {
        return;
    }
    match command {
        Command::Down => step(model, 1, effects),
        Command::Up => step(model, -1, effects),
        Command::Top => step(model, isize::MIN / 2, effects),
        Command::Bottom => step(model, isize::MAX / 2, effects),
        Command::ScrollDown | Command::ScrollUp if matches!(model.mode, Mode::Asks { .. }) => {
            scroll_ask(model, command);
        }
        Command::ScrollDown => scroll(model, PAGE),
        Command::ScrollUp if model.shown_tab() == Tab::Terminal => {
            past::begin(model, PAGE.unsigned_abs(), effects);
        }
        Command::ScrollUp => scroll(model, -PAGE),
        Command::NextWaiting => next_waiting(model, effects),
        Command::Asks => open_asks(model),
        Command::Attach => attach(model, effects),
        Command::Inline => inline::begin(model),
        Command::Copy => copy_shown(model, effects),
        Command::NextFound | Command::FormerFound => {}
        Command::Send => send::open(model),
        Command::SendFile => send::open_file(model),
        Command::New | Command::NewLoop | Command::Execute => new::open(model, command, effects),
        Command::Pause => pause(model, effects),
        Command::TogglePause => each(model, toggled, effects),
        Command::Resume => resume(model, effects),
        Command::Stop => confirm(model, |_| Deed::Stop, effects),
        Command::Restart => confirm(model, |_| Deed::Restart, effects),
        Command::Remove => confirm(model, removal, effects),
        Command::Snapshot => each(model, |_| Some(Deed::Snapshot), effects),
        Command::Compact => each(model, |_| Some(Deed::Compact), effects),
        Command::Acknowledge => each(model, |_| Some(Deed::Acknowledge), effects),
        Command::Merge => confirm(model, |_| Deed::Merge, effects),
        Command::AutoYes => auto_yes(model, effects),
        Command::Timeout
        | Command::ResumeWith
        | Command::MergeInto
        | Command::PauseFor
        | Command::LoopMax => ask_words(model, command),
        Command::Restore => words::choose_snapshot(model),
        Command::PauseIn(way) => pause_in(model, way, effects),
        Command::DenyBecause => deny_because(model),
        Command::Trash | Command::Judged => house::open(model, command, effects),
        Command::Search => model.mode = Mode::Search(Box::default()),
        Command::PauseAll => of_all(model, pause_all(), "PAUSING... everything", effects),
        Command::ResumeAll => of_all(model, resume_all(), RESUMING_ALL, effects),
        Command::ResumeAllFromLog => of_all(model, resume_all_from_log(), RESUMING_ALL, effects),
        Command::Allow => answer(model, Reply::Allow, effects),
        Command::AllowForSession => answer(model, Reply::AllowForSession, effects),
        Command::Deny => answer(model, Reply::Deny, effects),
        Command::Mark => mark(model, effects),
        Command::MarkRange => mark_range(model),
        Command::NextTab => turn_tab(model, 1),
        Command::FormerTab => turn_tab(model, Tab::ALL.len() - 1),
        Command::Tab(at) => show_nth(model, at),
        Command::Filter => model.mode = Mode::Filter,
        Command::Palette => model.mode = Mode::Palette { words: Editor::default(), at: 0 },
        Command::Undo => undo(model, effects),
        Command::History => model.mode = Mode::History,
        Command::Help => open_help(model),
        Command::Close => close(model),
        Command::MoreIterations | Command::FewerIterations => {
            executing::count(model, command, effects);
        }
        Command::Interrupt => executing::interrupt(model, effects),
        Command::Quit | Command::Suspend | Command::Redraw => leave(command, effects),
    }
}

/// Opens all keys over what is shown.
fn open_help(model: &mut Model) {
    let behind = Box::new(std::mem::replace(&mut model.mode, Mode::List));
    model.mode = Mode::Help { scroll: 0, behind };
}

/// What concerns the whole screen.
fn leave(command: Command, effects: &mut Vec<Effect>) {
    effects.extend((command == Command::Quit).then_some(Effect::Quit));
    effects.extend((command == Command::Suspend).then_some(Effect::Suspend));
    effects.extend((command == Command::Redraw).then_some(Effect::Redraw));
}

/// Moves the hand, in the list or among the questions.
pub(super) fn step(model: &mut Model, by: isize, _effects: &mut Vec<Effect>) {
    if let Mode::Asks { at } = &model.mode {
        let all: Vec<_> =
            model.asks().iter().map(|(s, ask)| (s.id.clone(), ask.request.clone())).collect();
        let place = at.as_ref().and_then(|at| all.iter().position(|known| known == at));
        model.mode = Mode::Asks { at: all.get(moved(place, by, all.len())).cloned() };
        model.ask_scroll = 0;
        return;
    }
    let count = model.ids().count();
    let to = moved(model.place(), by, count);
    let selected = model.ids().nth(to).cloned();
    model.selected = selected;
    model.settles_at = model.settles_at.map(|_| model.now.ms + SETTLE_MS);
    if let Some(from) = model.range.clone() {
        mark_between(model, &from);
    }
}

fn moved(place: Option<usize>, by: isize, count: usize) -> usize {
    let last = count.saturating_sub(1);
    place.map_or(0, |place| place.saturating_add_signed(by).min(last))
}

/// Copies what is seen of the session in hand.
fn copy_shown(model: &mut Model, effects: &mut Vec<Effect>) {
    let lines = crate::view::shown_text(model);
    super::copy(model, lines.join("\n"), lines.len(), effects);
}

/// Scrolls what is shown of the session in hand.
pub(super) fn scroll(model: &mut Model, by: isize) {
    let most = crate::view::scroll_max(model);
    model.scroll = model.scroll.min(most).saturating_add_signed(by).min(most);
}

/// To the next session that waits, round and round.
fn next_waiting(model: &mut Model, effects: &mut Vec<Effect>) {
    if matches!(model.mode, Mode::Asks { .. }) {
        return step(model, 1, effects);
    }
    let from = model.place().map_or(0, |place| place + 1);
    let waits = |id: &&String| {
        model.sessions.get(*id).is_some_and(|session| session.status == Status::Waiting)
    };
    let next = model.ids().skip(from).find(waits).or_else(|| model.ids().find(waits)).cloned();
    match next {
        Some(next) => model.selected = Some(next),
        None => said(model, "nothing waits for you".to_owned()),
    }
}

/// Opens the questions, at the one of the session in hand if it asks something, else at the oldest.
fn open_asks(model: &mut Model) {
    let asks = model.asks();
    let own = asks.iter().find(|(session, _)| Some(&session.id) == model.selected.as_ref());
    let at = own.or(asks.first()).map(|(session, ask)| (session.id.clone(), ask.request.clone()));
    if at.is_some() || model.asks_are_coming() {
        model.mode = Mode::Asks { at };
    } else {
        said(model, "nothing waits for you".to_owned());
    }
}

/// A question that is gone makes room for the oldest that is left; with the last one the view closes.
pub(super) fn keep_asking(model: &mut Model) {
    let Mode::Asks { at } = &model.mode else { return };
    let asks = model.asks();
    let is_open = |(id, request): &(String, String)| {
        asks.iter().any(|(session, ask)| session.id == *id && ask.request == *request)
    };
    if at.as_ref().is_some_and(is_open) {
        return;
    }
    let first = asks.first().map(|(session, ask)| (session.id.clone(), ask.request.clone()));
    let stays = first.is_some() || model.asks_are_coming();
    model.mode = if stays { Mode::Asks { at: first } } else { Mode::List };
}

/// The session that a command is about: that of the question in hand, else the one in hand.
fn meant(model: &Model) -> Option<String> {
    if let Mode::Asks { at: Some((id, _)) } = &model.mode {
        return Some(id.clone());
    }
    model.selected.clone()
}

fn attach(model: &mut Model, effects: &mut Vec<Effect>) {
    // What is typed there reaches the agent.
    if refuses(model) {
        return;
    }
    if let Some(id) = meant(model) {
        model.selected = Some(id.clone());
        effects.push(Effect::Attach { id });
    }
}

/// Pauses in a way that is not the usual one.
fn pause_in(model: &mut Model, way: Way, effects: &mut Vec<Effect>) {
    let clears = |clearing| PauseWith { clearing: Some(clearing), ..PauseWith::USUAL };
    let late = |on_timeout| PauseWith { on_timeout: Some(on_timeout), ..PauseWith::USUAL };
    let with = match way {
        Way::AfterTurn => PauseWith { mode: PauseMode::Boundary, ..PauseWith::USUAL },
        Way::Removing => clears(Clearing::IfAllIsSaved),
        Way::Keeping => clears(Clearing::Keep),
        Way::OrForce => late(OnTimeout::Force),
        Way::OrLeave => late(OnTimeout::Refuse),
        Way::Clearing => {
            let with = clears(Clearing::Always);
            return confirm(model, |_| Deed::PauseWith(with), effects);
        }
    };
    each(model, |_| Some(Deed::PauseWith(with)), effects);
}

/// Opens the box for the words that a command needs.
fn ask_words(model: &mut Model, command: Command) {
    let needs = [
        (Command::Timeout, Wanted::Timeout),
        (Command::ResumeWith, Wanted::ResumeWords),
        (Command::MergeInto, Wanted::MergeInto),
        (Command::PauseFor, Wanted::PauseFor),
        (Command::LoopMax, Wanted::LoopMax),
    ];
    for (_, wanted) in needs.into_iter().filter(|(needing, _)| *needing == command) {
        words::open(model, wanted);
    }
}

fn deny_because(model: &mut Model) {
    if let Mode::Asks { at: Some((id, request)) } = &model.mode {
        let (id, request) = (id.clone(), request.clone());
        words::open_for(model, Wanted::WhyNot { request }, vec![id]);
    }
}

fn scroll_ask(model: &mut Model, command: Command) {
    let most = crate::view::ask_scroll_max(model);
    let by = if command == Command::ScrollUp { -PAGE } else { PAGE };
    model.ask_scroll = model.ask_scroll.min(most).saturating_add_signed(by).min(most);
}

/// A second press asks whether it may be stopped at once.
fn pause(model: &mut Model, effects: &mut Vec<Effect>) {
    let pausing = model.session().is_some_and(|session| session.status == Status::Pausing);
    if pausing && model.marked.is_empty() {
        return confirm(model, |_| Deed::ForcePause, effects);
    }
    each(model, |session| Some(executing::usual_pause(session)), effects);
}

/// The other way round than it is, or than it was asked to be a moment ago.
fn auto_yes(model: &mut Model, effects: &mut Vec<Effect>) {
    let asked = |deed: &Deed| if let Deed::AutoYes { on } = deed { Some(*on) } else { None };
    let asked: BTreeMap<String, bool> = model
        .targets()
        .into_iter()
        .filter_map(|id| {
            let on = model.asked_of(&id, asked)?;
            Some((id, on))
        })
        .collect();
    let now = |session: &View| asked.get(&session.id).copied().unwrap_or(session.auto_yes);
    each(model, |session| Some(Deed::AutoYes { on: !now(session) }), effects);
}

/// One key for all states: a pause that is still waited for is cancelled.
fn toggled(session: &View) -> Option<Deed> {
    match session.looped.as_deref().map(|own| own.state.as_str()) {
        Some("pausing") if session.status != Status::Paused => return Some(Deed::CancelPause),
        Some("paused") => return Some(Deed::Resume),
        Some(_) | None => {}
    }
    Some(match session.status {
        Status::Pausing => Deed::CancelPause,
        Status::Paused => Deed::Resume,
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
fn resume(model: &mut Model, effects: &mut Vec<Effect>) {
    let waits = model.session().is_some_and(|session| session.status == Status::Waiting);
    if model.marked.is_empty() && waits {
        return open_asks(model);
    }
    each(model, |_| Some(Deed::Resume), effects);
}

fn removal(session: &View) -> Deed {
    let running = if session.pid.is_some() { IfRunning::Stop } else { IfRunning::Refuse };
    Deed::Remove { running }
}

/// Answers the question in hand, and goes on to the next.
pub(super) fn answer(model: &mut Model, answer: Reply, effects: &mut Vec<Effect>) {
    let Mode::Asks { at: Some((id, request)) } = &model.mode else { return };
    let (id, request) = (id.clone(), request.clone());
    let asks = model.asks();
    let own = asks.iter().find(|(s, ask)| s.id == id && ask.request == request);
    let Some((session, ask)) = own else {
        return too_late(model, &id, &answer, effects);
    };
    // The agent would take the word for the answer.
    if ask.kind == AskKind::Question && matches!(answer, Reply::Allow | Reply::AllowForSession) {
        let keys = crate::view::keys_for(model, session, ask);
        return said(model, format!("it wants no yes or no: {keys}"));
    }
    step(model, 1, effects);
    act(model, &id, Deed::Answer { request, answer }, effects);
}

/// A question that was answered elsewhere, or went with its session. Words that were meant for it are kept.
fn too_late(model: &mut Model, id: &str, answer: &Reply, effects: &mut Vec<Effect>) {
    let Reply::Words(words) = answer else {
        return said(model, "that question is gone".to_owned());
    };
    drafts::give_back(model, id, words);
    drafts::keep(model, effects);
    let send = model.key(Place::List, Command::Send);
    said(model, format!("that question is gone; what you typed is kept for {send}"));
}

/// Answers a question by the number of one of its choices.
pub(super) fn choose(model: &mut Model, number: usize, effects: &mut Vec<Effect>) {
    let Mode::Asks { at: Some((id, request)) } = &model.mode else { return };
    let asks = model.asks();
    let own = asks.iter().find(|(s, ask)| s.id == *id && ask.request == *request);
    let choices = own.map_or_else(Vec::new, |(_, ask)| crate::view::choices(ask));
    let chosen = number.checked_sub(1).and_then(|at| choices.into_iter().nth(at));
    if let Some(chosen) = chosen {
        answer(model, Reply::Words(chosen), effects);
    }
}

fn mark(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(id) = model.selected.clone() else { return };
    model.range = None;
    if !model.marked.remove(&id) {
        model.marked.insert(id);
    }
    step(model, 1, effects);
}

fn mark_range(model: &mut Model) {
    model.range = if model.range.is_some() { None } else { model.selected.clone() };
    model.marked.extend(model.range.clone());
}

fn mark_between(model: &mut Model, from: &str) {
    let ids: Vec<String> = model.ids().cloned().collect();
    let begin = ids.iter().position(|id| id == from);
    let (Some(begin), Some(end)) = (begin, model.place()) else { return };
    let (low, high) = (begin.min(end), begin.max(end));
    model.marked = ids.into_iter().skip(low).take(high - low + 1).collect();
}

fn undo(model: &mut Model, effects: &mut Vec<Effect>) {
    let undoable = |done: &&mut Done| {
        done.end == End::Well && done.deed.as_ref().is_some_and(|deed| deed.inverse().is_some())
    };
    // What was done last is what is meant: while that goes on, nothing older is undone in its place.
    let goes_on = |done: &&Done| done.end == End::NotYet && done.deed.is_some();
    if let Some(line) = model.history.iter().rev().find(goes_on).map(|done| done.line.clone()) {
        return said(model, format!("`{line}` is still under way"));
    }
    let Some(last) = model.history.iter_mut().rev().find(undoable) else {
        return said(model, "nothing to undo".to_owned());
    };
    last.end = End::Undone;
    let inverse = last.deed.as_ref().and_then(Deed::inverse);
    if let (Some(id), Some(inverse)) = (last.id.clone(), inverse) {
        act(model, &id, inverse, effects);
        // What undoes is not undone by the next press: that goes further back.
        if let Some(newest) = model.history.last_mut() {
            newest.deed = None;
        }
    }
}

fn close(model: &mut Model) {
    if model.mode != Mode::List {
        model.mode = Mode::List;
    } else if !model.marked.is_empty() || model.range.is_some() {
        model.marked.clear();
        model.range = None;
    } else if model.notice.is_some() {
        model.notice = None;
    } else if !model.filter.text().is_empty() {
        model.filter = Editor::default();
        model.put_in_order();
    }
}
