//! One thing that waits to be sent, and the forms that it can take.

use crate::policy::Place;
use crate::text::Text;
use serde::{Deserialize, Serialize};

/// How important something is. What is more important goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// An agent waits for it.
    Approval,
    /// What an agent has to say at the end of its turn.
    Final,
    /// The answer to what a person typed. A file of an earlier version may have what is good to know as well.
    #[serde(alias = "status")]
    Reply,
}

/// Something that waits to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its number: later ones are larger.
    #[serde(skip)]
    pub id: u64,
    pub chat: i64,
    pub thread: Option<i64>,
    pub lane: Lane,
    pub what: What,
    /// In which form it is sent.
    pub fallback: Fallback,
    /// The session whose words it shows: those of another are never in the same message.
    pub speaker: Option<String>,
    /// It is not sent together with others.
    #[serde(skip)]
    pub alone: bool,
    /// How often the server had a fault with it.
    #[serde(skip)]
    pub faults: u32,
    /// When that became so often that the fault may be its own, counted in requests.
    #[serde(skip)]
    pub doubted: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Post {
        text: Text,
        /// Rows of buttons below it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keys: Vec<Vec<Key>>,
        /// The card that it shows, whose message's number is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<String>,
        /// All that the card asks, where that is too long for a message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<Box<Whole>>,
    },
    /// Other words for a message that was sent, and no buttons.
    Edit { message: i64, text: Text },
    /// A message that was sent loses its buttons: one of them was used.
    Used { message: i64 },
    File {
        name: String,
        content: String,
        /// Some words below it.
        caption: String,
    },
    /// A topic of its own for a session.
    Topic { session: String, name: String },
    /// The topic of a session that is archived is closed: the one that this is for.
    CloseTopic,
    /// The picture of what a session did goes, now that its words are here.
    Clear { session: String },
    /// That a button was pressed is known.
    Ack { query: String, words: String },
}

/// All that a card asks, as a file. It goes before the card, to the same place: what a person has not got, they cannot
/// have seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    pub name: String,
    pub content: String,
    /// Where the network has it.
    pub taken_in: Option<Place>,
    /// The card for a network that does not take the file: its words, and the buttons that are left.
    pub without: (Text, Vec<Vec<Key>>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// What stands on it. Never an agent's words.
    pub label: String,
    /// The word that stands for what it does.
    pub data: String,
}

/// In which form an item is sent. A network that does not take one is given the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    /// As it was meant.
    #[default]
    Rich,
    /// Words without marks, outside of any topic.
    PlainText,
    /// A line that says that it could not be shown.
    Notice,
}

/// What stands for something that a network does not take in any form.
const NOT_SHOWN: &str =
    "A message could not be shown here: the network refuses it. It can be seen on the machine.";

/// The same for what an agent asks. The first line of a card names the session, and has no word of the agent's.
fn ask_not_shown(card: &str) -> String {
    let first = card.lines().next().unwrap_or_default();
    format!(
        "{first}\nThis could not be shown here: the network refuses it. Its agent waits for an answer, which can be \
         given on the machine."
    )
}

impl What {
    /// A message that is nothing but words.
    pub fn words(text: impl Into<Text>) -> Self {
        Self::Post { text: text.into(), keys: Vec::new(), card: None, whole: None }
    }
}

impl Item {
    /// As it was meant.
    pub fn new(id: u64, chat: i64, thread: Option<i64>, lane: Lane, what: What) -> Self {
        let (fallback, speaker) = (Fallback::Rich, None);
        let (alone, faults, doubted) = (false, 0, None);
        Self { id, chat, thread, lane, what, fallback, speaker, alone, faults, doubted }
    }

    /// How long its words are, if others may stand in the same message.
    pub(super) fn joinable(&self) -> Option<usize> {
        match &self.what {
            What::Post { text, keys, card: None, .. } if keys.is_empty() && !self.alone => {
                Some(text.units())
            }
            _ => None,
        }
    }

    /// The file that goes before it, unless the network has it in the same place.
    pub(crate) fn file_due(&self) -> Option<What> {
        let What::Post { whole: Some(whole), .. } = &self.what else { return None };
        let Whole { name, content, taken_in, .. } = &**whole;
        let due = *taken_in != Some(self.place());
        let (name, content) = (name.clone(), content.clone());
        due.then_some(What::File { name, content, caption: String::new() })
    }

    /// The same behind its file, if that was due.
    pub(super) fn behind_file(&self) -> Option<Self> {
        self.file_due()?;
        let mut behind = Self { faults: 0, doubted: None, ..self.clone() };
        if let What::Post { whole: Some(whole), .. } = &mut behind.what {
            whole.taken_in = Some(self.place());
        }
        Some(behind)
    }

    /// The same without its file, if that was due.
    fn without_file(&self) -> Option<Self> {
        self.file_due()?;
        let What::Post { card, whole: Some(whole), .. } = self.what.clone() else { return None };
        let ((text, keys), whole) = (whole.without, None);
        let what = What::Post { text, keys, card, whole };
        Some(Self { what, faults: 0, doubted: None, ..self.clone() })
    }

    fn place(&self) -> Place {
        Place { chat: self.chat, thread: self.thread }
    }

    /// Whether it must arrive in some form.
    pub(super) fn is_lasting(&self) -> bool {
        // Without a topic a session is talked to in the chat.
        matches!(self.what, What::Post { .. } | What::File { .. })
    }

    /// The next form of it, if there is one.
    pub(super) fn plainer(&self) -> Option<Self> {
        if !self.is_lasting() {
            return None;
        }
        if let Some(without) = self.without_file() {
            return Some(without);
        }
        let fallback = match self.fallback {
            Fallback::Notice => return None,
            Fallback::Rich => Fallback::PlainText,
            Fallback::PlainText => Fallback::Notice,
        };
        let what = match (fallback, self.what.clone()) {
            (Fallback::PlainText, What::Post { text, keys, card, whole }) => {
                What::Post { text: Text::plain(text.text), keys, card, whole }
            }
            // What is not shown cannot be answered: the note has no button, and its card takes no reply.
            (Fallback::Notice, What::Post { text, card: Some(card), .. }) => {
                let text = Text::plain(ask_not_shown(&text.text));
                What::Post { text, keys: Vec::new(), card: Some(card), whole: None }
            }
            (Fallback::Notice, What::Post { .. } | What::File { .. }) => What::words(NOT_SHOWN),
            (_, same) => same,
        };
        Some(Self { fallback, what, thread: None, faults: 0, doubted: None, ..self.clone() })
    }
}

/// What several items are together: their words, with an empty line between.
pub(crate) fn together(items: &[Item]) -> Option<What> {
    let (first, rest) = items.split_first()?;
    let mut what = first.what.clone();
    if let What::Post { text, .. } = &mut what {
        for item in rest {
            if let What::Post { text: more, .. } = &item.what {
                *text = std::mem::take(text).and("\n\n").join(more);
            }
        }
    }
    Some(what)
}
