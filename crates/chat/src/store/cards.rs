//! Cards: what an agent asks, as a chat shows it, and what became of it.

use super::{Change, Look, StoreFault};
use crate::button::SHOWN_AGAIN;
use crate::text::Text;
use rusqlite::params;

/// So many cards are known, open or not.
const KEPT: i64 = 1000;

/// What an agent asks, in one chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its name: session, start, request and chat.
    pub name: String,
    /// The chat.
    pub chat: i64,
    /// The topic in it.
    pub thread: Option<i64>,
    /// Who may answer it there.
    pub user: i64,
    /// The session's id.
    pub session: String,
    /// The request.
    pub request: String,
    /// The start of the session's process that asks.
    pub generation: u32,
    /// What is shown, without what became of it.
    pub shown: Text,
    /// The number of its message, once it is sent.
    pub message: Option<i64>,
    /// Whether it is open.
    pub state: CardState,
    /// What is known of how it was answered.
    pub fate: Option<String>,
    /// How much of what is asked is to be seen.
    pub seen: Seen,
}

/// How much of what is asked a chat has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// All of it.
    All,
    /// A part: the network did not take the file with the whole.
    Part,
    /// A note that something is asked: the network did not take the card.
    Nothing,
}

impl Seen {
    fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Part => "part",
            Self::Nothing => "nothing",
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "all" => Self::All,
            "part" => Self::Part,
            _ => Self::Nothing,
        }
    }
}

/// Whether a card is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardState {
    /// The agent waits.
    Open,
    /// It does not wait for this any more.
    Closed,
}

impl CardState {
    fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

impl Look<'_> {
    /// A card by its name.
    pub fn card(&self, name: &str) -> Result<Option<Card>, StoreFault> {
        Ok(self.cards_where("card = ?1", name)?.into_iter().next())
    }

    /// The open cards of a session, in all chats.
    pub fn open_cards(&self, session: &str) -> Result<Vec<Card>, StoreFault> {
        self.cards_where("state = 'open' AND session = ?1", session)
    }

    /// The card that this message of a chat shows, open or not.
    pub fn card_at(&self, chat: i64, message: i64) -> Result<Option<Card>, StoreFault> {
        let cards = self.cards_where("message = ?1", &message.to_string())?;
        Ok(cards.into_iter().find(|card| card.chat == chat))
    }

    /// The earlier messages of a card that was shown again.
    pub fn earlier(&self, card: &str) -> Result<Vec<Card>, StoreFault> {
        self.cards_where("substr(card, 1, length(?1) + 1) = ?1 || '/'", card)
    }

    /// The card of an agent's question that this button stands on.
    pub fn card_of_button(&self, nonce: &str) -> Result<Option<Card>, StoreFault> {
        let named = "card = (SELECT card FROM buttons WHERE nonce = ?1)";
        Ok(self.cards_where(named, nonce)?.into_iter().next())
    }

    fn cards_where(&self, what: &str, value: &str) -> Result<Vec<Card>, StoreFault> {
        let sql = format!(
            "SELECT card, chat, thread, session, request, generation, shown, message, state, fate, \
             user, seen FROM cards WHERE {what} ORDER BY rowid"
        );
        let mut rows = self.db.prepare_cached(&sql)?;
        let mut found = rows.query([value])?;
        let mut cards = Vec::new();
        while let Some(row) = found.next()? {
            let (shown, state, seen): (String, String, String) =
                (row.get(6)?, row.get(8)?, row.get(11)?);
            cards.push(Card {
                name: row.get(0)?,
                chat: row.get(1)?,
                thread: row.get(2)?,
                session: row.get(3)?,
                request: row.get(4)?,
                generation: row.get(5)?,
                shown: serde_json::from_str(&shown)?,
                message: row.get(7)?,
                state: if state == "open" { CardState::Open } else { CardState::Closed },
                fate: row.get(9)?,
                user: row.get(10)?,
                seen: Seen::of(&seen),
            });
        }
        Ok(cards)
    }
}

impl Change<'_> {
    /// Keeps a card. Whether there was none of that name.
    pub fn add_card(&self, card: &Card) -> Result<bool, StoreFault> {
        let sql = "INSERT OR IGNORE INTO cards (card, chat, thread, session, request, generation, \
                   shown, state, user) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let shown = serde_json::to_string(&card.shown)?;
        let added = self.db.prepare_cached(sql)?.execute(params![
            card.name,
            card.chat,
            card.thread,
            card.session,
            card.request,
            card.generation,
            shown,
            card.state.word(),
            card.user
        ])?;
        // Old ones that are closed are of no use: their buttons count for nothing.
        let old = "DELETE FROM cards WHERE state = 'closed' AND rowid < \
                   (SELECT max(rowid) FROM cards) - ?1";
        self.db.prepare_cached(old)?.execute([KEPT])?;
        Ok(added > 0)
    }

    /// A card is at this message.
    pub fn set_message(&self, card: &str, message: i64) -> Result<(), StoreFault> {
        let sql = "UPDATE cards SET message = ?2 WHERE card = ?1";
        self.db.prepare_cached(sql)?.execute(params![card, message])?;
        Ok(())
    }

    /// The network has not taken all of a card: this is what it shows.
    pub fn show_less(&self, card: &str, shown: &Text, seen: Seen) -> Result<(), StoreFault> {
        let sql = "UPDATE cards SET shown = ?2, seen = ?3 WHERE card = ?1";
        let shown = serde_json::to_string(shown)?;
        self.db.prepare_cached(sql)?.execute(params![card, shown, seen.word()])?;
        Ok(())
    }

    /// How a card was answered.
    pub fn set_fate(&self, card: &str, fate: &str) -> Result<(), StoreFault> {
        let sql = "UPDATE cards SET fate = ?2 WHERE card = ?1";
        self.db.prepare_cached(sql)?.execute(params![card, fate])?;
        Ok(())
    }

    /// The agent does not wait for this any more: the buttons count for nothing.
    pub fn close_card(&self, card: &str) -> Result<(), StoreFault> {
        let sql = "UPDATE cards SET state = 'closed' WHERE card = ?1";
        self.db.prepare_cached(sql)?.execute([card])?;
        self.void_buttons(card)
    }

    /// The buttons of a card count for nothing any more.
    pub fn void_buttons(&self, card: &str) -> Result<(), StoreFault> {
        let sql = "UPDATE buttons SET used_by = -1 WHERE used_by IS NULL AND card = ?1";
        self.db.prepare_cached(sql)?.execute([card])?;
        Ok(())
    }

    /// What an open card asks is shown once more, at another message: this one keeps what it has, under a name of
    /// its own, and its buttons count for nothing.
    pub fn set_aside(&self, card: &str, message: i64, fate: &str) -> Result<(), StoreFault> {
        // A press that is being dealt with counts.
        let buttons = "UPDATE buttons SET card = card || '/' || ?2, used_by = CASE WHEN used_by IN \
                       (SELECT id FROM updates WHERE done = 0) THEN used_by ELSE ?3 END WHERE card = ?1";
        self.db.prepare_cached(buttons)?.execute(params![card, message, SHOWN_AGAIN])?;
        let sql = "UPDATE OR REPLACE cards SET card = card || '/' || ?2, state = 'closed', fate = ?3 \
                   WHERE card = ?1";
        self.db.prepare_cached(sql)?.execute(params![card, message, fate])?;
        Ok(())
    }

    /// A card that was not sent yet is made anew.
    pub fn drop_card(&self, card: &str) -> Result<(), StoreFault> {
        self.unsend_card(card)?;
        self.void_buttons(card)?;
        self.db.prepare_cached("DELETE FROM cards WHERE card = ?1")?.execute([card])?;
        Ok(())
    }

    /// What of a card waits to be sent need not be.
    pub fn unsend_card(&self, card: &str) -> Result<(), StoreFault> {
        let sql = "DELETE FROM outbox WHERE json_extract(what, '$.post.card') = ?1";
        self.db.prepare_cached(sql)?.execute([card])?;
        Ok(())
    }
}
