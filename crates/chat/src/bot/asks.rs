//! What agents ask: a card in every chat that hears of the session, taken back when it is answered elsewhere.

use super::say::Say;
use super::{Asked, Bot, Dealt};
use crate::button::Act;
use crate::desk::user_of;
use crate::outbox::{Lane, What as Sent, Whole};
use crate::policy::{Admitted, Place};
use crate::store::{Card, CardState, Change, Follow, Seen, StoreFault};
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
        self.change(|change| show_asks_in(change, session))
    }

    /// Answers a question, if it is still this very one that is asked.
    pub(super) fn answer_question(
        &self,
        asked: &Asked,
        (session, request, generation, text): &Question,
        (answer, reason): (&str, Option<&str>),
    ) -> Dealt {
        let shown = self.show(asked, session)?;
        let named = shown.asks.iter().find(|ask| ask.request == *request);
        // A press that is seen again after a crash finds the question gone, by its own answer: the daemon knows that
        // answer by its key. Where another question has its name by now, that one was seen by nobody.
        if shown.generation != *generation || named.is_some_and(|ask| ask.text != *text) {
            // Its card is taken back by the event that tells who has answered: here that is not known.
            return self.reply(asked, NOT_ASKED);
        }
        let (answer, reason) = (answer.to_owned(), reason.map(str::to_owned));
        let action = Action::Answer { ask: Some(request.clone()), answer, reason };
        match self.call(asked, Request::Act { session: session.clone(), action }) {
            // The card itself tells what happened.
            Ok(_) => self.answer(asked, &[], |_| Ok(())),
            Err(Fault::Refused(Refusal::NothingAsked { .. } | Refusal::WrongAsk { .. })) => {
                self.reply(asked, NOT_ASKED)
            }
            Err(fault) => Err(fault.into()),
        }
    }

    /// A reply to a card is the answer to its question; to an approval it is a no, and says why.
    pub(super) fn answer_by_words(&self, asked: &Asked, card: &Card, text: &str) -> Dealt {
        if card.user != asked.user {
            return self.reply(asked, words::NOT_YOURS);
        }
        let shown = self.show(asked, &card.session)?;
        let ask = shown.asks.iter().find(|ask| ask.request == card.request);
        let Some(ask) = ask.filter(|_| shown.generation == card.generation) else {
            return self.reply(asked, NOT_ASKED);
        };
        let question =
            (card.session.clone(), card.request.clone(), card.generation, ask.text.clone());
        match words::answer_in_words(ask, text).filter(|(answer, _)| can_give(card.seen, answer)) {
            Some(answer) => self.answer_question(asked, &question, answer),
            None => self.reply(asked, words::no_answer(ask, card.seen)),
        }
    }
}

/// What is said to an answer that comes too late.
const NOT_ASKED: &str = "That question is not asked any more.";

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
        close(change, &Card { resolution: card.resolution.clone().or(unanswered), ..card })?;
    }
    Ok(())
}

/// Shows what a session asks and no card shows yet, within a change.
pub(super) fn show_asks_in(change: &Change<'_>, session: &SessionView) -> Result<(), StoreFault> {
    for follow in change.look().follows_of(&session.id)? {
        session.asks.iter().try_for_each(|ask| add(change, session, ask, &follow))?;
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
            let resolution = words::resolution_of(answer, by.as_deref());
            change.edit_card(&card.name, |card| card.resolution = Some(resolution))?;
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
) -> Result<(), StoreFault> {
    let (chat, thread, user) = (follow.chat, follow.thread, follow.user);
    let shown = words::card(&session.name, ask);
    let card = Card {
        name: format!("{}/{}/{}/{chat}", session.id, session.generation, ask.request),
        chat,
        thread,
        user,
        session: session.id.clone(),
        request: ask.request.clone(),
        generation: session.generation,
        shown: shown.text.clone(),
        message: None,
        state: CardState::Open,
        resolution: None,
        seen: Seen::All,
    };
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
        // Its buttons are added with those of the card.
        let without = (shown.text.clone().join(&without), Vec::new());
        Whole { name, content, taken_in: None, without }
    });
    let text = shown.text.and(&shown.how);
    let say = Say::card(Place { chat, thread }, Lane::Approval, text, keys).by(&session.id);
    Say { card: Some(card.name), whole, ..say }.put(change, user)
}

/// What a session asks is shown once more in this chat, for whom it is now: it may be far up, and another user's.
pub(super) fn show_again(
    change: &Change<'_>,
    session: &SessionView,
    chat: i64,
) -> Result<(), StoreFault> {
    for card in change.look().open_cards(&session.id)? {
        if card.chat != chat {
            continue;
        }
        let Some(message) = card.message else {
            change.drop_card(&card)?;
            continue;
        };
        change.set_aside(&card, message, words::SHOWN_AGAIN)?;
        let card = Card { resolution: Some(words::SHOWN_AGAIN.to_owned()), ..card };
        settle(change, &card, (message, Lane::Approval))?;
    }
    show_asks_in(change, session)
}

/// Takes a card back: its buttons count for nothing, and it tells what happened.
pub(crate) fn close(change: &Change<'_>, card: &Card) -> Result<(), StoreFault> {
    change.close_card(&card.name)?;
    change.unsend_card(&card.name)?;
    // One without a message is on its way: the sender finds it closed when the network has taken it.
    let shown = change.look().earlier(card)?.into_iter().chain([card.clone()]);
    for one in shown {
        if let Some(message) = one.message {
            let one = Card { resolution: card.resolution.clone(), ..one };
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
    let text = words::settled(&card.shown, card.resolution.as_deref());
    change.push((card.chat, card.thread), lane, Sent::Edit { message, text })
}

/// A press tells which message shows a card. The network may have it though its answer was lost: then nothing
/// else tells, and one that was sent twice is told of at the message that somebody looks at.
pub(super) fn note_where(
    change: &Change<'_>,
    pressed: &Admitted,
    data: &str,
) -> Result<(), StoreFault> {
    let card = change.look().card_of_button(data)?;
    let here = card.filter(|card| card.chat == pressed.place.chat);
    let Some(card) = here.filter(|card| card.message != Some(pressed.message)) else {
        return Ok(());
    };
    match card.state {
        CardState::Open => change.set_message(&card.name, pressed.message),
        CardState::Closed => settle(change, &card, (pressed.message, Lane::Reply)),
    }
}
