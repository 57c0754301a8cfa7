//! Cards: what an agent asks, as a chat shows it, what became of it, and the buttons below it.

use super::{Change, Look, StoreFault};
use crate::button::{Keyboard, SHOWN_AGAIN, VOID};
use crate::outbox::What;
use crate::text::Text;
use serde::{Deserialize, Serialize};

/// What an agent asks, in one chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Its name: session, start, request and chat.
    pub name: String,
    pub chat: i64,
    pub thread: Option<i64>,
    /// Who may answer it there.
    pub user: i64,
    pub session: String,
    pub request: String,
    /// The start of the session's process that asks.
    pub generation: u32,
    /// What is shown, without what became of it.
    pub shown: Text,
    /// The number of its message, once it is sent.
    pub message: Option<i64>,
    pub state: CardState,
    /// What is known of how it was answered.
    pub resolution: Option<String>,
    /// How much of what is asked is to be seen.
    pub seen: Seen,
}

/// How much of what is asked a chat has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    All,
    /// A part: the network did not take the file with the whole.
    Part,
    /// A note that something is asked: the network did not take the card.
    Nothing,
}

/// Whether a card is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardState {
    Open,
    /// It does not wait for this any more.
    Closed,
}

impl Look<'_> {
    pub fn card(&self, name: &str) -> Result<Option<Card>, StoreFault> {
        Ok(self.find("card", "key", name)?.pop())
    }

    /// The open cards of a session, in all chats.
    pub fn open_cards(&self, session: &str) -> Result<Vec<Card>, StoreFault> {
        let mut cards: Vec<Card> = self.find("card", "body ->> '$.session'", session)?;
        cards.retain(|card| card.state == CardState::Open);
        Ok(cards)
    }

    /// The card that this message of a chat shows, open or not.
    pub fn card_at(&self, chat: i64, message: i64) -> Result<Option<Card>, StoreFault> {
        let cards: Vec<Card> = self.find("card", "chat", chat)?;
        Ok(cards.into_iter().find(|card| card.message == Some(message)))
    }

    /// The earlier messages of a card that was shown again.
    pub fn earlier(&self, card: &Card) -> Result<Vec<Card>, StoreFault> {
        let mut cards: Vec<Card> = self.find("card", "chat", card.chat)?;
        let name = format!("{}/", card.name);
        cards.retain(|it| it.name.starts_with(&name));
        Ok(cards)
    }

    /// The buttons that one with this word is among.
    pub fn keyboard(&self, nonce: &str) -> Result<Option<Keyboard>, StoreFault> {
        let own = "(SELECT key FROM json_each(body, '$.acts') WHERE key = ?2)";
        Ok(self.find("keyboard", own, nonce)?.pop())
    }

    /// The card of an agent's question that this button stands on.
    pub fn card_of_button(&self, nonce: &str) -> Result<Option<Card>, StoreFault> {
        let keyboard = self.keyboard(nonce)?;
        Ok(keyboard.map(|keys| self.card(&keys.card)).transpose()?.flatten())
    }
}

impl Change<'_> {
    /// Keeps a card. Whether there was none of that name.
    pub fn add_card(&self, card: &Card) -> Result<bool, StoreFault> {
        if self.look().card(&card.name)?.is_some() {
            return Ok(false);
        }
        self.put_card(card).map(|()| true)
    }

    /// Changes what is known of a card.
    pub fn edit_card(&self, name: &str, edit: impl FnOnce(&mut Card)) -> Result<(), StoreFault> {
        let Some(mut card) = self.look().card(name)? else { return Ok(()) };
        edit(&mut card);
        self.put_card(&card)
    }

    fn put_card(&self, card: &Card) -> Result<(), StoreFault> {
        self.put("card", &card.name, card.chat, card)
    }

    pub fn set_message(&self, card: &str, message: i64) -> Result<(), StoreFault> {
        self.edit_card(card, |card| card.message = Some(message))
    }

    /// The agent does not wait for this any more: the buttons count for nothing.
    pub fn close_card(&self, card: &str) -> Result<(), StoreFault> {
        self.edit_card(card, |card| card.state = CardState::Closed)?;
        self.void_buttons(card)
    }

    /// Keeps the buttons of a card.
    pub fn add_buttons(&self, keyboard: &Keyboard) -> Result<(), StoreFault> {
        self.put("keyboard", &keyboard.card, keyboard.chat, keyboard)
    }

    /// A button was pressed: it and the others of its card are used, by this update.
    pub fn use_up(&self, keyboard: &Keyboard, update: i64) -> Result<(), StoreFault> {
        self.add_buttons(&Keyboard { used_by: Some(update), ..keyboard.clone() })
    }

    /// The buttons of a card count for nothing any more.
    pub fn void_buttons(&self, card: &str) -> Result<(), StoreFault> {
        let keys: Option<Keyboard> = self.look().find("keyboard", "key", card)?.pop();
        let unused = keys.filter(|keys| keys.used_by.is_none());
        unused.map_or(Ok(()), |keys| self.use_up(&keys, VOID))
    }

    /// What an open card asks is shown once more, at another message: this one keeps what it has, under a name of
    /// its own, and its buttons count for nothing.
    pub fn set_aside(&self, card: &Card, message: i64, resolution: &str) -> Result<(), StoreFault> {
        let name = format!("{}/{message}", card.name);
        let keys: Option<Keyboard> = self.look().get("keyboard", &card.name, card.chat)?;
        if let Some(keys) = keys {
            // A press that is being dealt with counts.
            let under_way = match keys.used_by {
                Some(by) => self.look().undone()?.iter().any(|update| update.id == by),
                None => false,
            };
            let used_by = keys.used_by.filter(|_| under_way).or(Some(SHOWN_AGAIN));
            self.remove("keyboard", &card.name, card.chat)?;
            self.add_buttons(&Keyboard { card: name.clone(), used_by, ..keys })?;
        }
        self.remove("card", &card.name, card.chat)?;
        let (state, resolution) = (CardState::Closed, Some(resolution.to_owned()));
        self.put_card(&Card { name, state, resolution, ..card.clone() })
    }

    /// A card that was not sent yet is made anew.
    pub fn drop_card(&self, card: &Card) -> Result<(), StoreFault> {
        self.unsend_card(&card.name)?;
        self.remove("keyboard", &card.name, card.chat)?;
        self.remove("card", &card.name, card.chat)
    }

    /// What of a card waits to be sent need not be.
    pub fn unsend_card(&self, name: &str) -> Result<(), StoreFault> {
        self.unsend(
            |item| matches!(&item.what, What::Post { card: Some(card), .. } if card == name),
        )
    }
}
