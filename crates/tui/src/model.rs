//! Everything that is shown. It is changed by `update` alone, and reads no clock and no file.

mod ages;
mod drafts;
mod executed;
mod field;
mod forms;
mod hand;
mod house;
mod keyboard;
mod list;
mod new_box;
mod pane;
mod past;
mod plan_box;
mod plans;
mod reading;
mod repositories;
mod rows;
mod sheet;
mod work;

pub(crate) use ages::{running_secs, since};
pub(crate) use drafts::{Drafts, NEW_DRAFT};
pub(crate) use executed::{Executed, Stage, stage as executed_stage};
pub(crate) use field::Field;
pub(crate) use forms::{Fields, FileBox, SearchBox, WordsBox};
pub(crate) use hand::{Hand, InHand};
pub(crate) use house::{Access, House, Link};
pub(crate) use keyboard::{Keyboard, Prefix};
pub(crate) use list::{Line, List, Order, Saved, folder_of};
pub(crate) use new_box::{NewBox, Repeat};
pub(crate) use pane::{Page, Pane, Preview, Shown, Zoom};
pub(crate) use past::{Past, Towards};
pub(crate) use plan_box::{PlanBox, PlanField};
pub(crate) use plans::{Badge, Plans};
pub(crate) use reading::Reading;
pub(crate) use repositories::Repositories;
pub(crate) use rows::{Looking, Rows, was_asking};
pub(crate) use sheet::{LaidFor, Reader, Row, RowOf, Sheet, turned};
pub(crate) use work::{Done, End, UnderWay, Work, pauses_of};

use crate::command::Command;
use crate::deed::Deed;
use crate::editor::Editor;
use crate::keymap::{KeyMap, Place};
use crate::message::{Effect, Now, Tab, Told};
use crate::theme::Theme;
use glis_core::Status;
use glis_core::spec::Mode as SessionMode;
use glis_wire::client::Request;
use glis_wire::view::SessionRow;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) now: Now,
    pub(crate) size: (u16, u16),
    pub(crate) theme: Theme,
    pub(crate) keys: KeyMap,
    pub(crate) folders: Folders,
    pub(crate) house: House,
    pub(crate) rows: Rows,
    pub(crate) looking: Looking,
    pub(crate) list: List,
    pub(crate) hand: Hand,
    pub(crate) pane: Pane,
    pub(crate) mode: Mode,
    pub(crate) keyboard: Keyboard,
    pub(crate) drafts: Drafts,
    pub(crate) work: Work,
    pub(crate) notice: Option<Notice>,
    /// What the mouse has been drawn over, with its button held.
    pub(crate) drag: Option<Drag>,
    /// What is to be done outside: `update` hands it out.
    pub(crate) effects: Vec<Effect>,
}

/// Where the program was started.
#[derive(Default)]
pub(crate) struct Folders {
    /// The repository, if any.
    pub(crate) here: Option<String>,
    /// The user's own folder, which is written `~`.
    pub(crate) home: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Mode {
    #[default]
    List,
    /// All keys, and what is behind them.
    Help {
        scroll: usize,
        behind: Box<Self>,
        /// What is sought in them.
        words: Option<Editor>,
    },
    Confirm {
        sure: Sure,
        question: String,
    },
    Send {
        id: String,
        /// Files that go with it, by their whole paths.
        files: Vec<String>,
    },
    File(Box<FileBox>),
    New(Box<NewBox>),
    Plan(Box<PlanBox>),
    Filter,
    /// Every open question; the one in hand by session and request.
    Asks {
        at: Option<(String, String)>,
    },
    Palette {
        words: Editor,
        at: usize,
    },
    /// What was done, as commands; those that hold these words.
    History {
        words: Editor,
    },
    /// What was removed; the number of the one in hand.
    Trash {
        at: usize,
    },
    /// What the rules have said; the number of the one in hand.
    Judged {
        at: usize,
    },
    Words(Box<WordsBox>),
    Pick {
        at: usize,
    },
    Search(Box<SearchBox>),
    /// The session's own terminal gets every key but one.
    Inline {
        id: String,
    },
    /// A page of the session in hand has the keys; words that are typed to be sought there.
    View {
        words: Option<Editor>,
    },
    /// What has scrolled out of its terminal; words that are typed to be sought there.
    Past {
        words: Option<Editor>,
    },
}

impl Mode {
    /// Where keys are looked up, where they are bound; a box takes them itself.
    pub(crate) fn place(&self) -> Option<Place> {
        match self {
            Self::List => Some(Place::List),
            Self::Asks { .. } => Some(Place::Asks),
            Self::Past { words: None } => Some(Place::Past),
            Self::View { words: None } => Some(Place::View),
            _ => None,
        }
    }

    /// The question that is shown, by session and request: the one in hand, also while words for it are typed.
    pub(crate) fn shown_ask(&self) -> Option<(&str, &str)> {
        match self {
            Self::Asks { at: Some((id, request)) } => Some((id, request)),
            Self::Words(form) => form.ask(),
            _ => None,
        }
    }
}

/// What is done once a person has said that it is meant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sure {
    /// This, with each of these sessions.
    Each { deed: Deed, ids: Vec<String> },
    /// A call that is about no single session, the line that does the same, and what is said meanwhile.
    Call { request: Box<Request>, line: String, label: &'static str },
    /// What was done under this ticket is undone.
    Undo { ticket: u64 },
}

/// From where to where the mouse was drawn: columns and rows of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drag {
    pub(crate) from: (u16, u16),
    pub(crate) to: (u16, u16),
}

/// Something that is said below the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) told: Told,
    pub(crate) kind: Kind,
    pub(crate) until: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Done,
    /// Questions were answered: those of the next answer are added.
    Answered,
    /// Nothing was to be done, and why.
    Said,
    Wrong,
}

impl Model {
    /// Before anything is known of any session, or of the terminal; with what was typed and not sent.
    pub(crate) fn new(now: Now, drafts: BTreeMap<String, String>) -> Self {
        Self {
            now,
            drafts: Drafts::of(drafts),
            keyboard: Keyboard { pressed_at: now.ms, ..Keyboard::default() },
            ..Self::default()
        }
    }

    pub(crate) fn session(&self) -> Option<&SessionRow> {
        self.hand.selected.as_ref().and_then(|id| self.rows.all.get(id))
    }

    /// What is shown of the session in hand. One without a terminal has its conversation in that place.
    pub(crate) fn shown_tab(&self) -> Tab {
        let headless = self.session().is_some_and(|session| session.mode == SessionMode::Headless);
        if self.pane.tab == Tab::Terminal && headless { Tab::Conversation } else { self.pane.tab }
    }

    pub(crate) fn removed_in_hand(&self) -> Option<&SessionRow> {
        self.list.removed.as_ref().filter(|gone| self.hand.selected.as_ref() == Some(&gone.id))
    }

    /// The question in hand that is not open any more.
    pub(crate) fn closed_ask(&self) -> Option<&InHand> {
        let is_closed = |own: &&InHand| self.rows.open_ask(&own.id, &own.ask.request).is_none();
        self.hand.ask.as_ref().filter(is_closed)
    }

    /// What a session is called, or was: what is in the trash can be meant as well.
    pub(crate) fn name_of(&self, id: &str) -> Option<&str> {
        let listed = self.rows.all.get(id).map(|session| session.name.as_str());
        let removed = || self.house.trash.items().iter().find(|item| item.id == id);
        let removed = || removed().map(|item| item.name.as_str());
        listed.or_else(removed).or_else(|| self.rows.gone.get(id).map(String::as_str))
    }

    /// What is done is done with these: the marked ones, else the one in hand.
    pub(crate) fn targets(&self) -> Vec<String> {
        if self.list.marked.is_empty() {
            return self.hand.selected.iter().cloned().collect();
        }
        let is_meant =
            |id: &&String| self.list.marked.contains(*id) && self.rows.all.contains_key(*id);
        self.list.ids().filter(is_meant).cloned().collect()
    }

    /// The keys of a command as they are written, for a sentence. What has none is found by its words.
    pub(crate) fn key(&self, place: Place, command: Command) -> String {
        self.keys.keys_of(place, command).unwrap_or_else(|| format!(":{}", command.name()))
    }

    /// Whether any session works, and is looked at again for that.
    pub(crate) fn works(&self) -> bool {
        self.house.link == Link::Live && self.rows.any(|session| session.status == Status::Busy)
    }

    /// When something changes by itself, if it does.
    pub(crate) fn next_change(&self) -> Option<u64> {
        let passes = |one: &SessionRow| matches!(one.status, Status::Pausing | Status::Resuming);
        let spins = !self.work.under_way.is_empty() || self.rows.any(passes);
        let times = [
            self.keyboard.prefix.as_ref().map(|prefix| prefix.until),
            self.notice.as_ref().map(|notice| notice.until),
            spins.then(|| self.now.ms + SPIN_MS),
            self.looking.due(),
            self.rows.plans.due(),
            self.pane.preview.follow_at,
            self.list.settles_at,
            self.drafts.keeps_at,
            self.works().then_some(self.looking.busy_at),
            self.next_age(),
            self.ticks(),
        ];
        times.into_iter().flatten().min()
    }

    /// The clock of a loop or task in hand moves while it runs.
    fn ticks(&self) -> Option<u64> {
        let session = self.session()?;
        let runs = matches!(session.status, Status::Busy | Status::Waiting | Status::Resuming);
        (runs && (session.looped.is_some() || session.plan.is_some()))
            .then(|| self.now.ms - self.now.ms % 1000 + 1000)
    }
}

/// A wheel that turns; slower looks stuck, faster is restless.
pub(crate) const SPIN_MS: u64 = 120;
