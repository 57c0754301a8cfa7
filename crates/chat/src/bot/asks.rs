//! What agents ask: a card in every chat that hears of the session, taken back when it is answered elsewhere.

use super::say::{Beside, Say, What};
use super::{Asked, Bot};
use crate::button::Act;
use crate::desk::{Caller, user_of};
use crate::outbox::{Lane, What as Sent};
use crate::policy::{Place, Pressed};
use crate::store::{Card, CardState, Change, Follow, Seen, StoreFault, answered_by};
use crate::text::Text;
use crate::words::{self, Answer};
use glis_client::Fault;
use glis_core::talk::DENY;
use glis_core::{Face, Origin, Refusal};
use glis_wire::client::{Action, Request};
use glis_wire::view::{SessionView, WaitingFor};
use serde::Deserialize as _;
use serde_json::Value;

/// A question: session, request, start of its process, and what was asked.
pub(super) type Question = (String, String, u32, String);

impl Bot {
    /// Shows what a session asks and no card shows yet, and takes back what it does not ask any more.
    pub(super) fn show_asks(&self, session: &SessionView) -> Result<(), StoreFault> {
        let now = self.now();
        self.change(|change| show_asks_in(change, session, now))
    }

    /// Answers a question, if it is still this very one that is asked.
    pub(super) fn answer_question(
        &self,
        asked: &Asked,
        (session, request, generation, text): &Question,
        (answer, reason): (&str, Option<&str>),
    ) -> Result<(), StoreFault> {
        let shown = match self.show(&asked.caller, session) {
            Ok(shown) => shown,
            Err(fault) => return self.complain(asked, fault),
        };
        let is_same = |ask: &WaitingFor| ask.request == *request && ask.text == *text;
        let open = shown.generation == *generation && shown.asks.iter().any(is_same);
        let (answer, reason) = (answer.to_owned(), reason.map(str::to_owned));
        let action = Action::Answer { ask: Some(request.clone()), answer, reason };
        let call = Request::Act { session: session.clone(), action };
        // A press that is seen again after a crash finds the question gone, by its own answer: the key tells. Where
        // another question has its name by now, as after a restart, that one was seen by nobody.
        let is_free = !shown.asks.iter().any(|ask| ask.request == *request);
        let known = self.store().look().meta(&answered_by(asked.update))?.is_some() && is_free;
        if !open && !known {
            // Its card is taken back by the event that tells who has answered: here that is not known.
            return self.reply(asked, "That question is not asked any more.");
        }
        self.change(|change| change.set_meta(&answered_by(asked.update), ""))?;
        match self.carry(asked, &call)? {
            // The card itself tells what happened.
            Ok(_) => {
                self.answer(asked, &[], |change| change.forget_meta(&answered_by(asked.update)))
            }
            Err(Fault::Refused(Refusal::NothingAsked { .. } | Refusal::WrongAsk { .. })) => {
                self.reply(asked, "That question is not asked any more.")
            }
            Err(fault) => self.complain(asked, fault),
        }
    }

    /// A reply to a card is the answer to its question; to an approval it is a no, and says why.
    pub(super) fn answer_by_words(
        &self,
        asked: &Asked,
        card: &Card,
        text: &str,
    ) -> Result<(), StoreFault> {
        if card.user != asked.user {
            return self.reply(asked, words::NOT_YOURS);
        }
        let shown = match self.show(&asked.caller, &card.session) {
            Ok(shown) => shown,
            Err(fault) => return self.complain(asked, fault),
        };
        let ask = shown.asks.iter().find(|ask| ask.request == card.request);
        let Some(ask) = ask.filter(|_| shown.generation == card.generation) else {
            return self.reply(asked, "That question is not asked any more.");
        };
        let question =
            (card.session.clone(), card.request.clone(), card.generation, ask.text.clone());
        match words::answer_in_words(ask, text).filter(|(answer, _)| can_give(card.seen, answer)) {
            Some(answer) => self.answer_question(asked, &question, answer),
            None => self.reply(asked, words::no_answer(ask, card.seen)),
        }
    }
}

/// Whether who has seen so much can give this answer: a part is enough for a no.
fn can_give(seen: Seen, answer: &str) -> bool {
    match seen {
        Seen::All => true,
        Seen::Part => answer == DENY,
        Seen::Nothing => false,
    }
}

/// Takes back what a session does not ask any more. How it was answered is told by events before that.
pub(super) fn take_back(change: &Change<'_>, session: &SessionView) -> Result<(), StoreFault> {
    for card in change.look().open_cards(&session.id)? {
        let asks = session.asks.iter().any(|ask| ask.request == card.request);
        if asks && card.generation == session.generation {
            continue;
        }
        let was_asked = session.was_asking.iter().any(|ask| ask.request == card.request);
        let unanswered = was_asked.then(|| words::unanswered(session).to_owned());
        close(change, &Card { fate: card.fate.clone().or(unanswered), ..card })?;
    }
    Ok(())
}

/// Shows what a session asks and no card shows yet, within a change.
pub(super) fn show_asks_in(
    change: &Change<'_>,
    session: &SessionView,
    now: i64,
) -> Result<(), StoreFault> {
    for follow in change.look().follows_of(&session.id)? {
        for ask in &session.asks {
            add(change, session, ask, &follow, now)?;
        }
    }
    Ok(())
}

/// Notes how a question is being answered, and by whom, as an event tells it.
pub(super) fn note_answer(
    change: &Change<'_>,
    (session, request): (&str, &str),
    (answer, event): (Answer<'_>, &Value),
) -> Result<(), StoreFault> {
    let from = event.get("from").and_then(|from| Origin::deserialize(from).ok());
    for card in change.look().open_cards(session)? {
        if card.request == request {
            let by = from.as_ref().map(|from| by_whom(change, &card, from)).transpose()?;
            change.set_fate(&card.name, &words::fate_of(answer, by.as_deref()))?;
        }
    }
    Ok(())
}

/// Who has answered, in the words of the chat that shows a card.
fn by_whom(change: &Change<'_>, card: &Card, from: &Origin) -> Result<String, StoreFault> {
    Ok(match from.face {
        Face::Cli => "at the command line".to_owned(),
        Face::Tui => "in the terminal UI".to_owned(),
        Face::Web => "on the page".to_owned(),
        Face::Chat => match user_of(&from.who) {
            // The number of a private chat is its user's.
            Some(user) if user == card.chat => "by you".to_owned(),
            Some(user) => {
                let name = change.look().name_of(user)?;
                format!("by {}", name.unwrap_or_else(|| format!("user {user}")))
            }
            None => "in another chat".to_owned(),
        },
    })
}

/// Adds the card of a question to a chat that has none of it.
fn add(
    change: &Change<'_>,
    session: &SessionView,
    ask: &WaitingFor,
    follow: &Follow,
    now: i64,
) -> Result<(), StoreFault> {
    let (chat, thread, user) = (follow.chat, follow.thread, follow.user);
    let shown = words::card(&session.name, ask);
    let place = Place { chat, thread };
    let card = card_of((session, ask), (place, user), shown.text.clone());
    if !change.add_card(&card)? {
        return Ok(());
    }
    let act = |answer: &str| Act::Answer {
        session: session.id.clone(),
        request: ask.request.clone(),
        generation: session.generation,
        asked: ask.text.clone(),
        answer: answer.to_owned(),
    };
    let row = |row: &Vec<(String, String)>| -> Vec<(String, Act)> {
        row.iter().map(|(label, answer)| (label.clone(), act(answer))).collect()
    };
    let keys = shown.answers.iter().map(row).collect();
    let whole = shown.whole.map(|(content, without)| {
        let name = format!("{}-asks.txt", session.name);
        Beside { name, content, without: shown.text.clone().join(&without) }
    });
    let text = shown.text.and(&shown.how);
    let what = What::Card { text, keys, card: Some(card.name), whole };
    Say::new(place, Lane::Approval, what).by(&session.id).put(change, user, now)
}

/// The card of a question that this user may answer in a place, with what it shows.
fn card_of(
    (session, ask): (&SessionView, &WaitingFor),
    (place, user): (Place, i64),
    shown: Text,
) -> Card {
    let Place { chat, thread } = place;
    Card {
        name: format!("{}/{}/{}/{chat}", session.id, session.generation, ask.request),
        chat,
        thread,
        user,
        session: session.id.clone(),
        request: ask.request.clone(),
        generation: session.generation,
        shown,
        message: None,
        state: CardState::Open,
        fate: None,
        seen: Seen::All,
    }
}

/// A question is told in other words than those of its card, once: a reply to them answers it as well.
pub(super) fn tell_question(
    change: &Change<'_>,
    (session, ask): (&SessionView, &WaitingFor),
    (place, user): (Place, i64),
    (text, now): (Text, i64),
) -> Result<(), StoreFault> {
    let card = card_of((session, ask), (place, user), text.clone());
    let card = Card { name: format!("told/{}", card.name), ..card };
    if !change.add_card(&card)? {
        return Ok(());
    }
    let text = text.and(words::how_to_answer(ask));
    let what = What::Card { text, keys: Vec::new(), card: Some(card.name), whole: None };
    Say::new(place, Lane::Final, what).by(&session.id).put(change, user, now)
}

/// What a session asks is shown once more in this chat, for whom it is now: it may be far up, and another user's.
pub(super) fn show_again(
    change: &Change<'_>,
    (session, chat): (&SessionView, i64),
    now: i64,
) -> Result<(), StoreFault> {
    for card in change.look().open_cards(&session.id)? {
        if card.chat != chat {
            continue;
        }
        let Some(message) = card.message else {
            change.drop_card(&card.name)?;
            continue;
        };
        let card = Card { fate: Some(words::SHOWN_AGAIN.to_owned()), ..card };
        change.set_aside(&card.name, message, words::SHOWN_AGAIN)?;
        settle(change, &card, (message, Lane::Approval))?;
    }
    show_asks_in(change, session, now)
}

/// Takes a card back: its buttons count for nothing, and it tells what happened.
pub(crate) fn close(change: &Change<'_>, card: &Card) -> Result<(), StoreFault> {
    change.close_card(&card.name)?;
    change.unsend_card(&card.name)?;
    // One without a message is on its way: the sender finds it closed when the network has taken it.
    let shown = change.look().earlier(&card.name)?.into_iter().chain([card.clone()]);
    for one in shown {
        if let Some(message) = one.message {
            let one = Card { fate: card.fate.clone(), ..one };
            settle(change, &one, (message, Lane::Reply))?;
        }
    }
    Ok(())
}

/// A message that shows a card tells what happened, and loses its buttons.
pub(crate) fn settle(
    change: &Change<'_>,
    card: &Card,
    (message, lane): (i64, Lane),
) -> Result<(), StoreFault> {
    let text = words::settled(&card.shown, card.fate.as_deref());
    let edit = Sent::Edit { message, text };
    change.push((card.chat, card.thread), lane, &edit, None)
}

/// A press tells which message shows a card. The network may have it though its answer was lost: then nothing
/// else tells, and one that was sent twice is told of at the message that somebody looks at.
pub(super) fn note_where(change: &Change<'_>, pressed: &Pressed) -> Result<(), StoreFault> {
    let card = change.look().card_of_button(&pressed.data)?;
    let here = card.filter(|card| card.chat == pressed.place.chat);
    let Some(card) = here.filter(|card| card.message != Some(pressed.message)) else {
        return Ok(());
    };
    match card.state {
        CardState::Open => change.set_message(&card.name, pressed.message),
        CardState::Closed => settle(change, &card, (pressed.message, Lane::Reply)),
    }
}

/// A caller for looks that no user has asked for.
pub(super) fn bot_itself() -> Caller {
    Caller { user: 0, key: "bot".to_owned() }
}
