//! What follows from a message: a changed model, and what is to be done outside. Nothing else decides.

mod acts;
mod asking;
mod boxes;
mod command;
mod drafts;
mod executing;
mod fields;
mod house;
mod inline;
mod new;
mod news;
mod past;
mod plan;
mod pointer;
mod press;
mod reader;
mod remarks;
mod search;
mod send;
mod tabs;
mod words;

pub(crate) use asking::painted;
pub(crate) use drafts::unsent;

use crate::chord::{Chord, Code, Held};
use crate::command::Command;
use crate::input::Input;
use crate::keyed::keyed;
use crate::keymap::Place;
use crate::message::{Agents, Effect, Msg, Now, PreviewNews, Tab, TaskPlace, Told};
use crate::model::{
    Access, Kind, Link, Mode, Model, Notice, Page, Preview, Reader, Saved, Shown, Zoom,
};
use crate::theme::Ground;
use crate::view;
use glis_core::Status;
use glis_wire::hold::Size;
use std::collections::BTreeSet;

/// The hand rests on a session when it has not moved for so long; only then is its terminal followed.
const FOLLOW_WAIT_MS: u64 = 40;
/// Between two looks at what has changed: ten a second are more than can be read.
const LOOK_PACE_MS: u64 = 100;
/// Between two looks at sessions that work: their words flow, and no event tells so.
const BUSY_LOOK_MS: u64 = 3000;
/// A terminal that was not there yet is looked for again after so long: a holder begins in a sixth of it.
const FOLLOW_AGAIN_MS: u64 = 1000;
/// A key that is held repeats every 30 ms, and no hand presses one again within this.
const REPEAT_MS: u64 = 100;
/// The list is not put in another order under a hand that moved in it this recently.
const SETTLE_MS: u64 = 2000;
/// A prefix waits so long for its second key.
const PREFIX_MS: u64 = 1000;
/// What went well need not be read twice.
const DONE_MS: u64 = 4000;
/// What went wrong stays longer, with its next step; any box that opens takes it away.
const WRONG_MS: u64 = 30_000;

pub(crate) fn update(model: &mut Model, now: Now, msg: Msg) -> Vec<Effect> {
    model.now = now;
    let (selected, in_box) = (model.hand.selected.clone(), drafts::shown(model));
    hear(model, msg);
    drafts::read_again(model, in_box.as_deref());
    pass_time(model);
    asking::keep(model);
    inline::keep(model);
    past::keep(model);
    reader::keep(model);
    executing::keep(model);
    if model.hand.selected != selected {
        // It may have come to one that the fold hides.
        if model.place().is_none() && model.list.filter.text().is_empty() {
            model.put_in_order();
        }
        move_on(model);
        // The row of one that was removed goes once the hand rests.
        if model.list.removed.is_some() {
            model.list.settles_at.get_or_insert(now.ms + SETTLE_MS);
        }
        // The first one was chosen by nobody's hand: there is nothing to wait for.
        if selected.is_none() {
            model.pane.preview.follow_at = Some(now.ms);
        }
    }
    follow_again(model);
    follow(model);
    note_look(model);
    reader::lay(model);
    fit(model);
    std::mem::take(&mut model.effects)
}

/// Takes what has come from outside.
fn hear(model: &mut Model, msg: Msg) {
    match msg {
        Msg::Input(input) => take_input(model, input),
        Msg::Resized { columns, rows } => {
            model.size = (columns, rows);
            asking::resized(model);
        }
        Msg::Time => {}
        Msg::Listed(listed) => news::listed(model, listed),
        Msg::Seen(seen) => news::seen(model, seen),
        Msg::LookedAt(session) => news::take_look(model, *session),
        Msg::Event(event) => news::event(model, *event),
        Msg::Lost(told) => model.house.link = Link::Lost(told),
        Msg::Stopped => {
            model.house.link = Link::Stopped;
            let key = model.key(Place::List, Command::Attach);
            let message = "the daemon was stopped; agents run on".to_owned();
            wrong(model, Told { message, hint: Some(format!("{key} starts it again")) });
        }
        Msg::Ended { ticket, result } => news::ended(model, ticket, result),
        Msg::Preview { session, news } => preview(model, session, news),
        Msg::Past { session, result } => past::arrived(model, &session, result),
        Msg::Fetched { session, result } => news::fetched(model, &session, result),
        Msg::Found { words, result } => search::arrived(model, &words, result),
        Msg::Led(lead) => asking::led(model, lead),
        Msg::Trash(result) => house::trash_arrived(model, result),
        Msg::Judged(result) => model.house.judged = result.into(),
        Msg::Plans(result) => {
            model.rows.plans.arrived(result.ok());
            // What is folded is counted by what became of it.
            model.list.settles_at.get_or_insert(model.now.ms + SETTLE_MS / 4);
        }
        Msg::Plan { repo, file, result } => plan::arrived(model, &(repo, file), result),
        Msg::Choices(choices) => {
            model.house.agents = Some(Agents::of(&choices));
            model.list.saved = Saved(choices.filters);
        }
        Msg::Edited(result) => boxes::edited(model, result),
        Msg::Returned(result) => returned(model, result),
        Msg::Changes { session, files } => {
            model.rows.changes.insert(session, files);
        }
        Msg::Base { session, branch } => {
            model.rows.bases.insert(session, branch);
        }
        Msg::Draft { id, before, text } => drafts::changed(model, &id, (&before, &text)),
        Msg::Failed(told) => wrong(model, told),
    }
}

/// News of the terminal in hand; of another one they are too late.
fn preview(model: &mut Model, session: String, news: PreviewNews) {
    if model.pane.preview.session.as_ref() == Some(&session) {
        // Who looks at it has looked.
        let is_new = model.session().is_some_and(|session| !session.seen);
        if matches!(news, PreviewNews::Painted { .. }) && is_new {
            model.looking.stale.insert(session);
        }
        if matches!(news, PreviewNews::Painted { .. }) {
            model.pane.fitted = None;
        }
        model.pane.preview.hear(news);
        past::fetch(model);
    }
}

/// In a full pane the agent's terminal has the size of that, but for those who may only look. Where it is shown in part
/// again, it is followed anew: who only looks does not count as attached.
fn fit(model: &mut Model) {
    let full = model.pane.zoom == Zoom::Full && model.shown_tab() == Tab::Terminal;
    let may = model.house.access == Access::Full && model.pane.preview.live().is_some();
    // What is not asked for is not laid out: this is looked at with every message.
    let area = if full && may { view::content(model) } else { None };
    let area = area.filter(|area| area.width > 1 && area.height > 0);
    let size = area.map(|area| Size { columns: area.width, rows: area.height });
    let wanted = model.hand.selected.clone().zip(size);
    if wanted == model.pane.fitted {
        return;
    }
    match wanted.clone() {
        Some((session, size)) => model.effects.push(Effect::Fit { session, size }),
        None if !full => model.pane.preview.follow_at = Some(model.now.ms),
        None => {}
    }
    model.pane.fitted = wanted;
}

/// A terminal that cannot be followed is tried again for as long as something runs in it.
fn follow_again(model: &mut Model) {
    let runs = model.session().is_some_and(|session| session.pid.is_some());
    let preview = &mut model.pane.preview;
    let is_lost = match &preview.shown {
        Shown::Nothing => false,
        Shown::Screen(..) | Shown::Refused(_) => preview.live().is_none(),
    };
    if runs && is_lost && !preview.is_asked && preview.follow_at.is_none() {
        preview.follow_at = Some(model.now.ms + FOLLOW_AGAIN_MS);
    }
}

/// The user is back from a session's own terminal. Its screen may have another size by now.
fn returned(model: &mut Model, result: Result<(), Told>) {
    if let Err(told) = result {
        wrong(model, told);
    }
    model.looking.stale.extend(model.hand.selected.clone());
    move_on(model);
}

fn take_input(model: &mut Model, input: Input) {
    match input {
        Input::Key(chord) => press_key(model, chord),
        Input::Meta(chord) => {
            let alt = Chord { held: Held { alt: true, ..chord.held }, ..chord };
            if press::takes_alt(model, alt) {
                return press_key(model, alt);
            }
            press_key(model, Chord::plain(Code::Esc));
            press_key(model, chord);
        }
        Input::Pasted(text) => {
            boxes::paste(model, &text);
            drafts::typed(model);
        }
        Input::Mouse(mouse) => pointer::point(model, mouse),
        Input::Focus(focus) => model.keyboard.focus = Some(focus),
        Input::Background(red, green, blue) => model.theme.ground = Ground::of(red, green, blue),
        Input::Answered => {}
    }
}

fn press_key(model: &mut Model, chord: Chord) {
    model.drag = None;
    model.hand.plan = None;
    let is_same = model.keyboard.pressed.replace(chord) == Some(chord);
    if is_same && model.now.ms < model.keyboard.pressed_at + REPEAT_MS {
        asking::hold_off(model);
    }
    model.keyboard.pressed_at = model.now.ms;
    press::press(model, chord);
    drafts::typed(model);
}

/// What is over is over; what was put off is done.
fn pass_time(model: &mut Model) {
    let now = model.now.ms;
    if model.keyboard.prefix.as_ref().is_some_and(|prefix| prefix.until <= now) {
        model.keyboard.prefix = None;
    }
    if model.notice.as_ref().is_some_and(|notice| notice.until <= now) {
        model.notice = None;
    }
    if model.drafts.keeps_at.is_some_and(|at| at <= now) {
        drafts::keep(model);
    }
    if model.list.settles_at.is_some_and(|at| at <= now) {
        model.put_in_order();
    }
    // Nothing tells what a stream of words is at.
    if model.works() && model.looking.busy_at <= now {
        model.looking.busy_at = now + BUSY_LOOK_MS;
        let busy = |id: &String| model.rows.all.get(id).is_some_and(|s| s.status == Status::Busy);
        let seen = view::sessions_in_sight(model).into_iter().filter(busy);
        let seen: Vec<String> = seen.collect();
        model.looking.stale.extend(seen);
    }
    let linked = model.house.link != Link::Stopped;
    let repos = if linked { model.plans_to_read() } else { BTreeSet::new() };
    model.effects.extend((!repos.is_empty()).then_some(Effect::LookAtPlans(repos)));
    let looking = &mut model.looking;
    if linked && !looking.under_way && !looking.stale.is_empty() && looking.not_before <= now {
        looking.under_way = true;
        looking.not_before = now + LOOK_PACE_MS;
        model.effects.push(Effect::Look(std::mem::take(&mut looking.stale).into_iter().collect()));
    }
}

/// Another session is in hand, or another process of it.
fn move_on(model: &mut Model) {
    let generation = model.session().map_or(0, |session| session.generation);
    let follow_at = model.now.ms + FOLLOW_WAIT_MS;
    model.pane.preview = Preview::of(model.hand.selected.clone(), generation, follow_at);
    model.pane.page = Page::Empty;
    model.pane.scroll = 0;
    model.pane.reader = Reader::default();
    model.pane.fitted = None;
    model.pane.changed();
}

/// What has come to an end before the eyes of a person was looked at.
fn note_look(model: &mut Model) {
    let looks = matches!(model.mode, Mode::List | Mode::View { .. });
    let rests = looks && model.pane.preview.follow_at.is_none();
    if !rests || model.house.link != Link::Live || !model.keyboard.is_looked_at(model.now) {
        return;
    }
    let Some(session) = model.session().filter(|session| !session.seen) else { return };
    let seen = (session.id.clone(), session.last_active_at.clone());
    if model.looking.noted.as_ref() != Some(&seen) {
        model.effects.push(Effect::LookAt(seen.0.clone()));
        model.looking.noted = Some(seen);
    }
}

/// Asks for what is shown of the session in hand, once the hand rests on it.
fn follow(model: &mut Model) {
    let stopped = model.house.link == Link::Stopped;
    if stopped || model.pane.preview.follow_at.is_none_or(|at| at > model.now.ms) {
        return;
    }
    model.pane.preview.follow_at = None;
    let tab = model.shown_tab();
    let session = model.session().map(|session| session.id.clone());
    if let Some(session) = session.clone().filter(|id| !model.rows.changes.contains_key(id)) {
        model.effects.push(Effect::CountChanges { session });
    }
    if let Some(session) = session.clone().filter(|id| !model.rows.bases.contains_key(id)) {
        model.effects.push(Effect::FindBase { session });
    }
    match (tab, session) {
        (Tab::Terminal, session) => {
            model.pane.preview.is_asked = session.is_some();
            model.effects.push(Effect::Follow(session));
        }
        (tab, Some(session)) => {
            model.effects.push(Effect::Follow(None));
            if model.pane.page == Page::Empty {
                model.pane.page = Page::Loading;
            }
            let task = model
                .rows
                .all
                .get(&session)
                .map(|s| TaskPlace { repo: s.repo_root.clone(), task: s.task.clone() });
            model.effects.push(Effect::Fetch {
                session,
                tab,
                last_seq: model.house.last_seq,
                task,
                said: reader::wish(model),
            });
        }
        (_, None) => model.effects.push(Effect::Follow(None)),
    }
}

/// More than this does no terminal take into its clipboard.
const COPY_BYTES_MAX: usize = 74_000;

/// Hands text to the clipboard, and says so.
fn copy(model: &mut Model, text: String, lines: usize) {
    if text.trim().is_empty() {
        return said(model, "there is nothing to copy".to_owned());
    }
    if text.len() > COPY_BYTES_MAX {
        let message = "that is too much for a clipboard".to_owned();
        return wrong(model, Told { message, hint: Some("select less of it".to_owned()) });
    }
    model.effects.push(Effect::Copy(text));
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    done(model, format!("copied {lines}"));
}

/// Says that something went well.
fn done(model: &mut Model, message: String) {
    tell(model, message, Kind::Done);
}

/// Says how a question was answered, behind what is said of those before it.
fn answered(model: &mut Model, message: &str) {
    let before = model.notice.take().filter(|notice| notice.kind == Kind::Answered);
    let before = before.map(|notice| format!("{}, ", notice.told.message)).unwrap_or_default();
    tell(model, format!("{before}{message}"), Kind::Answered);
}

/// Says why a key did nothing.
fn said(model: &mut Model, message: String) {
    tell(model, message, Kind::Said);
}

fn tell(model: &mut Model, message: String, kind: Kind) {
    let until = model.now.ms + DONE_MS;
    model.notice = Some(Notice { told: Told { message, hint: None }, kind, until });
}

/// The repository of the session in hand, else the one that we were started in. Where there is none, it is said
/// what to do.
fn repository(model: &mut Model, hint: &str) -> Option<String> {
    let of_session = model.session().map(|session| session.repo_root.clone());
    let found = of_session.or_else(|| model.folders.here.clone());
    if found.is_none() {
        let message = "this folder is in no git repository".to_owned();
        wrong(model, Told { message, hint: Some(hint.to_owned()) });
    }
    found
}

/// Says what went wrong, and the next step.
fn wrong(model: &mut Model, told: Told) {
    let Told { message, hint } = told;
    let hint = hint.map(|hint| keyed(model, &hint));
    let told = Told { message: keyed(model, &message), hint };
    let until = model.now.ms + WRONG_MS;
    model.notice = Some(Notice { told, kind: Kind::Wrong, until });
}
