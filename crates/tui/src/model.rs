//! Everything that is shown. It is changed by `update` alone, and reads no clock and no file.

mod ages;
mod done;
mod executed;
mod field;
mod forms;
mod in_hand;
mod listing;
mod new_box;
mod order;
mod past;
mod plan_box;
mod preview;

pub(crate) use ages::{running_secs, since};
pub(crate) use done::{Done, End, UnderWay, pauses_of};
pub(crate) use executed::{Executed, Stage, stage as executed_stage};
pub(crate) use field::Field;
pub(crate) use forms::{Fields, FileBox, SearchBox, Sought, WordsBox};
pub(crate) use in_hand::InHand;
pub(crate) use listing::Listing;
pub(crate) use new_box::{NewBox, Repeat};
pub(crate) use order::Line;
pub(crate) use past::{Past, Towards};
pub(crate) use plan_box::{PlanBox, PlanField, Reading};
pub(crate) use preview::{Preview, Shown};

use crate::chord::Chord;
use crate::command::Command;
use crate::deed::Deed;
use crate::editor::Editor;
use crate::input::Focus;
use crate::keymap::{KeyMap, Place};
use crate::message::{Fetched, Judged, Now, Tab, Told};
use crate::theme::Theme;
use glis_core::Status;
use glis_wire::client::Request;
use glis_wire::view::{SessionView, TrashView, WaitingFor};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that is shown.
pub(crate) struct Model {
    pub(crate) now: Now,
    pub(crate) size: (u16, u16),
    pub(crate) theme: Theme,
    pub(crate) keys: KeyMap,
    pub(crate) access: Access,
    /// The repository that the program was started in, if any.
    pub(crate) here: Option<String>,
    /// The user's own folder, which is written `~`.
    pub(crate) user_home: Option<String>,
    pub(crate) link: Link,
    /// Whether anything may start: `running`, `pausing`, `paused`.
    pub(crate) gate: String,
    pub(crate) last_seq: u64,
    pub(crate) sessions: BTreeMap<String, SessionView>,
    /// What those were called that went away while this showed them, by id.
    pub(crate) gone: BTreeMap<String, String>,
    /// The session that was in hand when it was removed: its row stays until a key moves the hand, so that no key
    /// reaches another one.
    pub(crate) removed: Option<SessionView>,
    /// The lines of the list, as they were last put in order.
    pub(crate) lines: Vec<Line>,
    pub(crate) selected: Option<String>,
    pub(crate) marked: BTreeSet<String>,
    /// Where a range of marks began.
    pub(crate) range: Option<String>,
    pub(crate) filter: Editor,
    pub(crate) mode: Mode,
    pub(crate) tab: Tab,
    pub(crate) scroll: usize,
    pub(crate) preview: Preview,
    /// What has scrolled out of its terminal, while that is looked at.
    pub(crate) past: Option<Past>,
    /// The entry of a conversation that is to be in sight once it is there: session and time.
    pub(crate) sought_entry: Option<(String, String)>,
    /// The question in hand, as it was shown.
    pub(crate) in_hand: Option<InHand>,
    /// How far it is scrolled.
    pub(crate) ask_scroll: usize,
    /// How many files each session has changed, as of its last snapshot.
    pub(crate) changes: BTreeMap<String, usize>,
    /// When the turn of each session that works began, in seconds since 1970.
    pub(crate) turns: BTreeMap<String, i64>,
    /// What an interrupt is about to pause.
    pub(crate) interrupted: Vec<Executed>,
    /// The plan that was begun here: its task that runs is in hand until a key is pressed.
    pub(crate) begun_plan: Option<String>,
    /// Letters mean nothing before: they were typed for a box that did not open.
    pub(crate) deaf_until: u64,
    /// When the sessions that work are looked at again.
    pub(crate) busy_look_at: u64,
    /// What the mouse has been drawn over, with its button held.
    pub(crate) drag: Option<Drag>,
    /// Whether the user's terminal is typed into, once it has said so.
    pub(crate) focus: Option<Focus>,
    /// When a key was last pressed, or the program was begun.
    pub(crate) pressed_at: u64,
    /// The key.
    pub(crate) pressed: Option<Chord>,
    pub(crate) page: Page,
    pub(crate) notice: Option<Notice>,
    pub(crate) prefix: Option<Prefix>,
    /// What is under way, by its ticket.
    pub(crate) under_way: BTreeMap<u64, UnderWay>,
    pub(crate) history: Vec<Done>,
    pub(crate) drafts: BTreeMap<String, Editor>,
    /// When what is typed is kept, in case that the program is killed in the middle of it.
    pub(crate) keeps_at: Option<u64>,
    /// What was removed, as of when that was last looked at.
    pub(crate) trash: Listing<TrashView>,
    /// What the rules have said, newest first, as of when that was last looked at.
    pub(crate) judged: Listing<Judged>,
    pub(crate) next_ticket: u64,
    pub(crate) looking: Looking,
    /// When the order of the list may change again: not right under a hand that moves in it.
    pub(crate) settles_at: Option<u64>,
}

/// What may be done here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Full,
    ReadOnly,
}

/// How the daemon is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    Connecting,
    Live,
    Lost(Told),
    /// The daemon was stopped on purpose: it is started by a person, and not by us.
    Stopped,
}

/// Who gets the keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mode {
    List,
    /// All keys, and what is behind them.
    Help {
        scroll: usize,
        behind: Box<Self>,
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
    /// The path of a file that goes with a message.
    File(Box<FileBox>),
    AnswerWords {
        id: String,
        request: String,
        words: Editor,
    },
    New(Box<NewBox>),
    /// A plan is to be executed.
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
    History,
    /// What was removed; the number of the one in hand.
    Trash {
        at: usize,
    },
    /// What the rules have said; the number of the one in hand.
    Judged {
        at: usize,
    },
    /// The words that a deed still needs.
    Words(Box<WordsBox>),
    /// One of the snapshots is chosen.
    Pick {
        at: usize,
    },
    Search(Box<SearchBox>),
    /// The session's own terminal gets every key but one.
    Inline {
        id: String,
    },
    /// What has scrolled out of its terminal; words that are typed to be sought there.
    Past {
        words: Option<Editor>,
    },
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

/// What a new session was to be told is a draft as well, under this name, which no session's id is.
pub(crate) const NEW_DRAFT: &str = "new";

/// Keys that were pressed and wait for the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    pub(crate) keys: Vec<Chord>,
    pub(crate) until: u64,
}

/// Something that is said below the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) told: Told,
    pub(crate) kind: Kind,
    pub(crate) until: u64,
}

/// What kind of notice it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Done,
    /// Questions were answered: those of the next answer are added.
    Answered,
    /// Nothing was to be done, and why.
    Said,
    Wrong,
}

/// What is known to have changed, and is looked at again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Looking {
    pub(crate) stale: BTreeSet<String>,
    pub(crate) under_way: bool,
    /// No look begins before this.
    pub(crate) not_before: u64,
}

/// What a view of a session shows beside its terminal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Page {
    Empty,
    Loading,
    Shown(Fetched),
    Fault(Told),
}

/// Everything that is known at the start.
pub(crate) struct Start {
    pub(crate) now: Now,
    pub(crate) size: (u16, u16),
    pub(crate) theme: Theme,
    pub(crate) keys: KeyMap,
    pub(crate) access: Access,
    pub(crate) here: Option<String>,
    pub(crate) user_home: Option<String>,
    pub(crate) drafts: BTreeMap<String, String>,
}

impl Model {
    /// Before anything is known of any session.
    pub(crate) fn new(start: Start) -> Self {
        let Start { now, size, theme, keys, access, here, user_home, drafts } = start;
        let drafts = drafts.into_iter().map(|(id, text)| (id, Editor::with(&text))).collect();
        Self {
            now,
            size,
            theme,
            keys,
            access,
            here,
            user_home,
            link: Link::Connecting,
            gate: "running".to_owned(),
            last_seq: 0,
            sessions: BTreeMap::new(),
            gone: BTreeMap::new(),
            removed: None,
            lines: Vec::new(),
            selected: None,
            marked: BTreeSet::new(),
            range: None,
            filter: Editor::default(),
            mode: Mode::List,
            tab: Tab::Terminal,
            scroll: 0,
            preview: Preview::default(),
            past: None,
            sought_entry: None,
            in_hand: None,
            ask_scroll: 0,
            changes: BTreeMap::new(),
            turns: BTreeMap::new(),
            interrupted: Vec::new(),
            begun_plan: None,
            deaf_until: 0,
            busy_look_at: 0,
            drag: None,
            focus: None,
            pressed_at: now.ms,
            pressed: None,
            page: Page::Empty,
            notice: None,
            prefix: None,
            under_way: BTreeMap::new(),
            history: Vec::new(),
            drafts,
            keeps_at: None,
            trash: Listing::default(),
            judged: Listing::default(),
            next_ticket: 1,
            looking: Looking::default(),
            settles_at: None,
        }
    }

    /// The session in hand.
    pub(crate) fn session(&self) -> Option<&SessionView> {
        self.selected.as_ref().and_then(|id| self.sessions.get(id))
    }

    /// The session in hand, where it was removed.
    pub(crate) fn removed_in_hand(&self) -> Option<&SessionView> {
        self.removed.as_ref().filter(|gone| self.selected.as_ref() == Some(&gone.id))
    }

    /// What a session is called, or was: what is in the trash can be meant as well.
    pub(crate) fn name_of(&self, id: &str) -> Option<&str> {
        let listed = self.sessions.get(id).map(|session| session.name.as_str());
        let removed = || self.trash.items().iter().find(|item| item.id == id);
        let removed = || removed().map(|item| item.name.as_str());
        listed.or_else(removed).or_else(|| self.gone.get(id).map(String::as_str))
    }

    /// What is done is done with these: the marked ones, else the one in hand.
    pub(crate) fn targets(&self) -> Vec<String> {
        if self.marked.is_empty() {
            return self.selected.iter().cloned().collect();
        }
        let is_meant = |id: &&String| self.marked.contains(*id) && self.sessions.contains_key(*id);
        self.ids().filter(is_meant).cloned().collect()
    }

    /// The sessions in the list, from the top; among them the row of one that was removed.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = &String> {
        self.lines.iter().filter_map(|line| match line {
            Line::Session(id) => Some(id),
            Line::Group { .. } | Line::Gap => None,
        })
    }

    /// Everything that is asked, what has waited longest first.
    pub(crate) fn asks(&self) -> Vec<(&SessionView, &WaitingFor)> {
        let waiting = self.sessions.values().filter(|s| s.status == Status::Waiting);
        let all = waiting.flat_map(|session| {
            let only = session.waiting_for.iter().filter(|_| session.asks.is_empty());
            session.asks.iter().chain(only).map(move |ask| (session, ask))
        });
        let mut all: Vec<_> = all.collect();
        // What one agent asks at once stays in the agent's own order.
        all.sort_by_key(|(session, ask)| {
            (ask.since.as_ref().unwrap_or(&session.last_active_at), &session.id)
        });
        all
    }

    /// Whether a session waits of which it is not known yet what it asks: its status came with an event, and
    /// the look that tells the rest is on its way.
    pub(crate) fn asks_are_coming(&self) -> bool {
        let unknown = |s: &SessionView| s.waiting_for.is_none() && s.asks.is_empty();
        self.sessions.values().any(|s| s.status == Status::Waiting && unknown(s))
    }

    /// The keys of a command as they are written, for a sentence. What has none is found by its words.
    pub(crate) fn key(&self, place: Place, command: Command) -> String {
        self.keys.keys_of(place, command).unwrap_or_else(|| format!(":{}", command.name()))
    }

    /// What is under way with a session: the latest of it.
    pub(crate) fn under_way_with(&self, id: &str) -> Option<&UnderWay> {
        self.under_way.values().rev().find(|under_way| under_way.id.as_deref() == Some(id))
    }

    /// What a session was asked for last, of what is still under way with it.
    pub(crate) fn asked_of<T>(&self, id: &str, what: impl Fn(&Deed) -> Option<T>) -> Option<T> {
        let own = self.under_way.values().rev().filter(|one| one.id.as_deref() == Some(id));
        own.filter_map(|one| one.deed.as_ref()).find_map(what)
    }

    /// What was typed for a session and not sent.
    pub(crate) fn draft(&self, id: &str) -> &str {
        self.drafts.get(id).map_or("", Editor::text)
    }

    /// Whether somebody sits before this, as far as it is known: many terminals say so, and who has just
    /// pressed a key does.
    pub(crate) fn is_looked_at(&self) -> bool {
        match self.focus {
            Some(Focus::Here) => true,
            Some(Focus::Elsewhere) => false,
            None => self.now.ms < self.pressed_at + LOOKED_AT_MS,
        }
    }

    /// When something changes by itself, if it does.
    pub(crate) fn next_change(&self) -> Option<u64> {
        let spins = !self.under_way.is_empty() || self.sessions.values().any(passes);
        let stale = !self.looking.under_way && !self.looking.stale.is_empty();
        let times = [
            self.prefix.as_ref().map(|prefix| prefix.until),
            self.notice.as_ref().map(|notice| notice.until),
            spins.then(|| self.now.ms + SPIN_MS),
            stale.then_some(self.looking.not_before),
            self.preview.follow_at,
            self.settles_at,
            self.keeps_at,
            self.works().then_some(self.busy_look_at),
            self.next_age(),
            self.ticks(),
        ];
        times.into_iter().flatten().min()
    }

    /// Whether something has changed that was not looked at yet.
    pub(crate) fn is_behind(&self) -> bool {
        self.looking.under_way || !self.looking.stale.is_empty()
    }

    /// Whether any session works, and is looked at again for that.
    pub(crate) fn works(&self) -> bool {
        let busy = |session: &SessionView| session.status == Status::Busy;
        self.link == Link::Live && self.sessions.values().any(busy)
    }

    /// The clock of a loop or task in hand moves while it runs.
    fn ticks(&self) -> Option<u64> {
        let session = self.session()?;
        let runs = matches!(session.status, Status::Busy | Status::Waiting | Status::Resuming);
        (runs && (session.looped.is_some() || session.plan.is_some()))
            .then(|| self.now.ms - self.now.ms % 1000 + 1000)
    }
}

/// Whoever has pressed a key still looks, for so long, at a terminal that never tells whether it is typed into.
const LOOKED_AT_MS: u64 = 20_000;

/// A wheel that turns; slower looks stuck, faster is restless.
pub(crate) const SPIN_MS: u64 = 120;

/// Whether a session is in a state that ends by itself.
pub(crate) fn passes(session: &SessionView) -> bool {
    matches!(session.status, Status::Pausing | Status::Resuming)
}

/// What was asked when a session was paused, which its agent has not heard an answer to.
pub(crate) fn was_asking(session: &SessionView) -> Option<String> {
    let asked = session.was_asking.iter().map(|ask| ask.text.as_str()).collect::<Vec<_>>();
    (!asked.is_empty()).then(|| asked.join("; "))
}
