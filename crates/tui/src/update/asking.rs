//! Answers to questions. A key answers the question that is on the screen, once, and never the next one.

use super::acts::{act, refuses};
use super::{drafts, said, words};
use crate::command::Command;
use crate::deed::{Deed, Reply};
use crate::keymap::Place;
use crate::message::{Effect, Lead};
use crate::model::{InHand, Kind, Mode, Model};
use crate::view;
use crate::wanted::Wanted;
use glis_core::talk::AskKind;
use glis_wire::view::{SessionRow, WaitingFor};

/// A yes counts so long after its question came under the hand by itself, or after a yes that came too early: a
/// person reads no faster.
const READ_MS: u64 = 700;

/// Opens the questions, at the one of the session in hand if it asks something, else at the oldest.
pub(super) fn open(model: &mut Model) {
    let asks = model.rows.asks();
    let own = asks.iter().find(|(session, _)| Some(&session.id) == model.hand.selected.as_ref());
    let at = own.or(asks.first()).map(named);
    if at.is_some() || model.rows.asks_are_coming() {
        go_to(model, at);
    } else {
        said(model, "nothing waits for you".to_owned());
    }
}

/// A question by its session and request.
fn named((session, ask): &(&SessionRow, &WaitingFor)) -> (String, String) {
    (session.id.clone(), ask.request.clone())
}

pub(super) fn go_to(model: &mut Model, at: Option<(String, String)>) {
    model.mode = Mode::Asks { at };
    model.hand.ask = None;
    model.hand.ask_scroll = 0;
    // Why a key did nothing was said of another one.
    model.notice = model.notice.take().filter(|notice| notice.kind != Kind::Said);
}

/// Moves the hand among the questions. From one that has gone it moves to its neighbours; where there are none
/// the view closes.
pub(super) fn step(model: &mut Model, by: isize) {
    let Mode::Asks { at } = &model.mode else { return };
    let asks = model.rows.asks();
    let all: Vec<_> = asks.iter().map(named).collect();
    let place = at.as_ref().and_then(|at| all.iter().position(|known| known == at));
    let last = all.len().saturating_sub(1);
    let to = match (place, model.closed_ask()) {
        (Some(place), _) => place.saturating_add_signed(by),
        // What stood below it has its place now.
        (None, Some(closed)) => {
            closed.place.saturating_add_signed(if by > 0 { by - 1 } else { by })
        }
        (None, None) => 0,
    };
    match all.get(to.min(last)).cloned() {
        Some(to) => go_to(model, Some(to)),
        None if model.rows.asks_are_coming() => go_to(model, None),
        None => model.mode = Mode::List,
    }
}

/// The question in hand stays in hand when it goes away: another one under the same keys would be answered by
/// them. What was not known yet when the view was opened comes in hand by itself.
pub(super) fn keep(model: &mut Model) {
    let Mode::Asks { at } = model.mode.clone() else { return };
    let asks = model.rows.asks();
    let place = match &at {
        Some(at) => asks.iter().position(|ask| named(ask) == *at),
        None => (!asks.is_empty()).then_some(0),
    };
    let known = at.as_ref().zip(model.hand.ask.as_ref());
    let known = known.is_some_and(|((id, request), own)| own.is((id, request)));
    let Some((place, (session, ask))) = place.and_then(|at| Some((at, *asks.get(at)?))) else {
        if !known {
            let stays = !asks.is_empty() || model.rows.asks_are_coming();
            model.mode = if stays { Mode::Asks { at: None } } else { Mode::List };
        }
        return;
    };
    let mut own = InHand::of(session, ask, place);
    let former = model.hand.ask.as_ref().filter(|former| known && former.ask == own.ask);
    match former {
        Some(former) => own = InHand { place, ..former.clone() },
        None if known || at.is_none() => own.counts_from = model.now.ms + READ_MS,
        None => {}
    }
    let (id, request) = (own.id.clone(), own.ask.request.clone());
    model.hand.ask = Some(own);
    if !model.hand.lead.as_ref().is_some_and(|lead| lead.is_of(&id, &request)) {
        model.hand.lead = Some(Lead::of(&id, &request));
        model.effects.push(Effect::FindLead { session: id.clone(), request: request.clone() });
    }
    model.mode = Mode::Asks { at: Some((id, request)) };
}

/// What led to a question was found out.
pub(super) fn led(model: &mut Model, lead: Lead) {
    let own = model.hand.ask.as_ref();
    if own.is_some_and(|own| lead.is_of(&own.id, &own.ask.request)) {
        model.hand.lead = Some(lead);
    }
}

/// The model was painted on the terminal: what is in sight of the question in hand is seen. Keys that were pressed
/// before that were pressed for something else.
pub(crate) fn painted(model: &mut Model) {
    let shown = view::ask_rows(model).shown;
    if let Some(own) = model.hand.ask.as_mut().filter(|own| shown.start <= own.seen) {
        own.seen = own.seen.max(shown.end);
    }
}

/// A yes counts after a moment: a key that is held is not pressed for the question that it comes to.
pub(super) fn hold_off(model: &mut Model) {
    if let (Mode::Asks { .. }, Some(own)) = (&model.mode, &mut model.hand.ask) {
        own.counts_from = model.now.ms + READ_MS;
    }
}

/// The terminal has another size: what was seen has other rows.
pub(super) fn resized(model: &mut Model) {
    model.hand.ask_scroll = 0;
    if let Some(own) = &mut model.hand.ask {
        own.seen = 0;
    }
}

/// Scrolls the question in hand, by less than is in sight and not before that was painted: no row is passed over.
pub(super) fn scroll(model: &mut Model, command: Command) {
    let rows = view::ask_rows(model);
    let is_new = model.hand.ask.as_ref().is_none_or(|own| own.seen < rows.shown.end);
    if command == Command::ScrollDown && is_new {
        return;
    }
    let by = isize::try_from(rows.page).unwrap_or(1);
    let by = if command == Command::ScrollUp { -by } else { by };
    model.hand.ask_scroll =
        model.hand.ask_scroll.min(rows.most).saturating_add_signed(by).min(rows.most);
}

/// Whether all of the question in hand was on the screen, long enough to be read. A yes before that puts the moment
/// off from which one counts, so a key that is held never gets there.
fn is_read(model: &mut Model) -> bool {
    let rows = view::ask_rows(model);
    let Some(own) = &model.hand.ask else { return false };
    if own.seen >= rows.all && own.counts_from <= model.now.ms {
        return true;
    }
    let unseen = rows.all.saturating_sub(own.seen.max(rows.shown.end));
    let more = model.key(Place::Asks, Command::ScrollDown);
    hold_off(model);
    said(
        model,
        match unseen {
            0 => "not answered: read it first, then press again".to_owned(),
            1 => format!("not answered: 1 row unseen; {more} shows it"),
            _ => format!("not answered: {unseen} rows unseen; {more} shows them"),
        },
    );
    false
}

/// Answers the question in hand, which stays in hand.
pub(super) fn answer(model: &mut Model, answer: Reply) {
    let Mode::Asks { at: Some((id, request)) } = model.mode.clone() else { return };
    let Some((session, ask)) = model.rows.open_ask(&id, &request) else {
        return too_late(model, &id, &answer);
    };
    // The agent would take the word for the answer, and a message is sent again once or not at all.
    let fits = match ask.kind {
        AskKind::Approval => view::takes(ask, answer.word()),
        AskKind::Question => !matches!(answer, Reply::Allow | Reply::AllowForSession),
        AskKind::Doubt => answer != Reply::AllowForSession,
    };
    if !fits {
        let keys = view::keys_for(model, session, ask);
        let why = match ask.kind {
            AskKind::Question => "it wants no yes or no",
            AskKind::Approval | AskKind::Doubt => "it cannot be answered so",
        };
        return said(model, format!("{why}: {keys}"));
    }
    let answer = answer.about(ask.kind);
    if model.work.is_answering(&id, &request) {
        let next = model.key(Place::Asks, Command::Down);
        return said(model, format!("it is being answered; {next} goes to the next"));
    }
    if refuses(model) || answer.lets_happen() && !is_read(model) {
        return;
    }
    act(model, &id, Deed::Answer { request, answer });
}

/// A question that was answered, or went with its session. Words that were meant for it are kept.
fn too_late(model: &mut Model, id: &str, answer: &Reply) {
    if let Reply::Words(words) | Reply::DenyBecause(words) = answer {
        model.drafts.give_back(id, words);
        drafts::keep(model);
        let send = model.key(Place::List, Command::Send);
        return said(model, format!("that question is gone; what you typed is kept for {send}"));
    }
    say_gone(model);
}

/// Says what became of a question that a key was pressed for too late.
fn say_gone(model: &mut Model) {
    let how = model.closed_ask().map_or("gone".to_owned(), |closed| model.work.ending_of(closed));
    let next = model.key(Place::Asks, Command::Down);
    said(model, format!("nothing was answered: that question is {how}; {next} goes on"));
}

/// Answers a question by the number of one of its choices.
pub(super) fn choose(model: &mut Model, number: usize) {
    let Mode::Asks { at: Some((id, request)) } = &model.mode else { return };
    let Some((_, ask)) = model.rows.open_ask(id, request) else { return say_gone(model) };
    let chosen = number.checked_sub(1).and_then(|at| view::choices(ask).into_iter().nth(at));
    if let Some(chosen) = chosen {
        answer(model, Reply::Choice(chosen));
    }
}

pub(super) fn deny_because(model: &mut Model) {
    let Mode::Asks { at: Some((id, request)) } = model.mode.clone() else { return };
    if model.rows.open_ask(&id, &request).is_none() {
        return say_gone(model);
    }
    words::open_for(model, Wanted::WhyNot { request }, vec![id]);
}

/// Opens the box for an answer in words, where they are one: an agent's approval is allowed or denied.
pub(super) fn in_words(model: &mut Model) {
    let Mode::Asks { at: Some((id, request)) } = model.mode.clone() else { return };
    let Some((session, ask)) = model.rows.open_ask(&id, &request) else { return say_gone(model) };
    if !view::takes_words(ask) {
        let keys = view::keys_for(model, session, ask);
        return said(model, format!("it takes no words: {keys}"));
    }
    words::open_for(model, Wanted::Answer { request }, vec![id]);
}
