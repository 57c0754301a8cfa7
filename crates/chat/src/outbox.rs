//! What waits to be sent to a chat, and when it may be: one budget over all methods, lanes by importance, and
//! what the network says about waiting obeyed to the second.
//!
//! Nothing here sends, and time is handed in, in milliseconds of a clock that only goes forward. An item stays
//! until the network has taken it. A crash may repeat one; none is lost.

mod budget;
mod item;

pub(crate) use item::together;
pub use item::{Fallback, Item, Key, Lane, What, Whole};

use crate::channel::fault::ChannelFault;
use crate::text::Text;
use crate::thread::{backoff, locked};
use budget::Budget;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What a network takes as one message.
pub const POST_UNITS_MAX: usize = 4096;
/// A ban ends on the network's clock, and a request that comes early makes it longer.
const BAN_MARGIN_MS: u64 = 200;
/// Between two looks of a picture; more often is a flood for the network.
const PICTURE_GAP_MS: u64 = 1500;
/// After so many faults of the server with one item it may be the item's: it is, if the server takes others.
const FAULTS_MAX: u32 = 5;
/// Beyond so many replies in one chat, the oldest goes: a person who asks so much at once is none.
const REPLIES_MAX: usize = 256;

/// A picture of what an agent is doing, which the next one replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub thread: Option<i64>,
    pub session: String,
    /// Whether that is the one that its chat talks to.
    pub is_current: bool,
    pub text: Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Send these as one message; report what came of it.
    Send(Vec<Item>),
    /// Show this; report what came of it.
    Show(Picture),
    /// Nothing before this time.
    Wait(u64),
    /// Nothing until something is added.
    Idle,
}

/// What came of a request: the network has it, under this number if it has one.
pub type Outcome = Result<Option<i64>, ChannelFault>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// They are sent, or need not be any more.
    Gone(Vec<u64>),
    /// This one is tried in another form.
    Changed(Box<Item>),
    /// Everything that was for this topic goes to its chat instead.
    OutOfTopic(i64),
    /// They are as they were.
    Waiting,
}

/// What all chats have in common.
#[derive(Debug)]
pub struct Pace {
    budget: Budget,
    /// The network could not be reached: nothing is tried before this time.
    away_until: u64,
    strikes: usize,
    /// Counts requests.
    served: u64,
    /// When something was last taken, by that count.
    taken: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { budget: Budget::of_all(), away_until: 0, strikes: 0, served: 0, taken: 0 }
    }
}

/// What waits for one chat.
#[derive(Debug)]
pub struct Outbox {
    pace: Arc<Mutex<Pace>>,
    /// By lane, then by age.
    items: BTreeMap<(Lane, u64), Item>,
    budget: Budget,
    banned_until: u64,
    blocked: bool,
    /// Another lane than the first goes first: the server has had many faults with that.
    steps_back: bool,
    /// Of each session the last one.
    pictures: BTreeMap<String, Picture>,
    shown_at: Option<u64>,
    /// When each session was last shown.
    drawn: BTreeMap<String, u64>,
}

impl Outbox {
    /// Nothing waits.
    pub fn new(chat: i64, pace: &Arc<Mutex<Pace>>) -> Self {
        Self {
            pace: Arc::clone(pace),
            items: BTreeMap::new(),
            budget: Budget::of_chat(chat),
            banned_until: 0,
            blocked: false,
            steps_back: false,
            pictures: BTreeMap::new(),
            shown_at: None,
            drawn: BTreeMap::new(),
        }
    }

    /// Adds an item. Those that had to go for it are told.
    pub fn push(&mut self, item: Item) -> Vec<u64> {
        let lane = item.lane;
        let most = match lane {
            Lane::Reply => REPLIES_MAX,
            Lane::Approval | Lane::Final => usize::MAX,
        };
        self.items.insert((lane, item.id), item);
        let mut alike: Vec<u64> = self.in_lane(lane).map(|item| item.id).collect();
        alike.truncate(alike.len().saturating_sub(most));
        for id in &alike {
            self.items.remove(&(lane, *id));
        }
        alike
    }

    /// Takes an item out that is not wanted any more.
    pub fn withdraw(&mut self, id: u64) {
        self.items.retain(|(_, known), _| *known != id);
    }

    /// Shows this as soon as asked, or never: it is not kept.
    pub fn picture(&mut self, picture: Picture) {
        self.pictures.insert(picture.session.clone(), picture);
    }

    /// Nothing goes to this chat before that time.
    pub fn ban(&mut self, until: u64) {
        self.banned_until = self.banned_until.max(until);
    }

    /// Up to when the chat is banned.
    pub fn banned_until(&self) -> u64 {
        self.banned_until
    }

    /// Something was said in this chat, or who may use it has changed: it is tried again.
    pub fn open(&mut self) {
        self.blocked = false;
    }

    /// Nothing goes to this chat until it is open again.
    pub fn shut(&mut self) {
        self.blocked = true;
    }

    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.items.len()
    }

    pub fn next(&mut self, now: u64) -> Next {
        let pace = locked(&self.pace);
        let all_at = pace.away_until.max(pace.budget.free_at(0));
        drop(pace);
        // One that cannot be shown now is not shown at all.
        let picture = self.take_picture(now, all_at);
        if self.blocked || self.items.is_empty() {
            return picture.map_or(Next::Idle, Next::Show);
        }
        match self.banned_until.max(self.budget.free_at(0)).max(all_at) {
            at if at > now => Next::Wait(at),
            _ => Next::Send(self.first_together()),
        }
    }

    /// Takes note of what came of a request with these items.
    pub fn report(&mut self, sent: &[Item], now: u64, outcome: &Outcome) -> Settled {
        let Some(first) = sent.first() else { return Settled::Waiting };
        let (served, taken) = self.count(now, outcome);
        match outcome {
            Ok(_) => match first.behind_file() {
                Some(card) => self.change(card),
                None => self.gone(sent),
            },
            Err(ChannelFault::Server(_)) => {
                let Some(item) = self.items.get_mut(&(first.lane, first.id)) else {
                    return Settled::Waiting;
                };
                item.faults += 1;
                if item.faults < FAULTS_MAX {
                    return Settled::Waiting;
                }
                let doubted = *item.doubted.get_or_insert(served);
                if taken > doubted {
                    return self.fall_back(sent);
                }
                // What another one steps back for does not.
                self.steps_back = self.items.keys().next() == Some(&(first.lane, first.id));
                Settled::Waiting
            }
            Err(ChannelFault::TopicGone) => match first.thread {
                Some(thread) => self.leave_topic(thread),
                None => self.fall_back(sent),
            },
            Err(ChannelFault::Refused(_) | ChannelFault::Unknown) => self.fall_back(sent),
            // A token that is not valid any more may be again: nothing is given up for it.
            Err(_) => Settled::Waiting,
        }
    }

    fn leave_topic(&mut self, thread: i64) -> Settled {
        for item in self.items.values_mut() {
            item.thread = item.thread.filter(|known| *known != thread);
        }
        Settled::OutOfTopic(thread)
    }

    /// Takes note of what came of a picture. It is not repeated, whatever that was, and a server that fails at one may
    /// well take words.
    pub fn report_picture(&mut self, now: u64, outcome: &Outcome) {
        let failed = matches!(outcome, Err(ChannelFault::Server(_)));
        self.count(now, if failed { &Err(ChannelFault::Unknown) } else { outcome });
    }

    /// How many requests there were by now, and were when the network last took one.
    fn count(&mut self, now: u64, outcome: &Outcome) -> (u64, u64) {
        self.steps_back = false;
        self.budget.spend(now);
        if let Err(ChannelFault::TooMany(secs)) = outcome {
            self.ban(now.saturating_add(secs.saturating_mul(1000).max(1000) + BAN_MARGIN_MS));
        }
        let is_shut = matches!(outcome, Err(ChannelFault::Blocked | ChannelFault::Moved(_)));
        self.blocked |= is_shut;
        let is_away = matches!(
            outcome,
            Err(ChannelFault::Unreachable(_)
                | ChannelFault::Unauthorized
                | ChannelFault::Conflict
                | ChannelFault::Server(_))
        );
        let mut pace = locked(&self.pace);
        pace.served += 1;
        pace.budget.spend(now);
        if outcome.is_ok() {
            pace.taken = pace.served;
        }
        if is_away {
            pace.away_until = now + backoff(pace.strikes) * 1000;
            pace.strikes += 1;
        } else if !is_shut {
            pace.strikes = 0;
        }
        (pace.served, pace.taken)
    }

    fn gone(&mut self, items: &[Item]) -> Settled {
        for item in items {
            self.items.remove(&(item.lane, item.id));
        }
        Settled::Gone(items.iter().map(|item| item.id).collect())
    }

    /// What is not taken as it is, is sent in a plainer form; of several, each alone.
    fn fall_back(&mut self, sent: &[Item]) -> Settled {
        let [one] = sent else {
            let Some(first) = sent.first() else { return Settled::Waiting };
            return self.change(Item { alone: true, faults: 0, doubted: None, ..first.clone() });
        };
        match one.plainer() {
            Some(plainer) => self.change(plainer),
            // Even a short plain line is refused: this chat takes nothing, and what it was for stays.
            None if one.is_lasting() => {
                self.blocked = true;
                Settled::Waiting
            }
            None => self.gone(sent),
        }
    }

    fn change(&mut self, item: Item) -> Settled {
        self.items.insert((item.lane, item.id), item.clone());
        Settled::Changed(Box::new(item))
    }

    fn in_lane(&self, lane: Lane) -> impl Iterator<Item = &Item> {
        self.items.range((lane, 0)..=(lane, u64::MAX)).map(|(_, item)| item)
    }

    /// The first item; instead of one with many faults that of another lane, every other time. If the server takes it,
    /// the faults are the item's own, and else everything waits.
    fn first(&self) -> Option<&Item> {
        let first = self.items.values().next()?;
        let other = self.items.values().find(|item| self.steps_back && item.lane != first.lane);
        Some(other.unwrap_or(first))
    }

    /// The first item, with those behind it that fit into the same message: after a long silence everything
    /// arrives at once.
    fn first_together(&self) -> Vec<Item> {
        let Some(first) = self.first() else { return Vec::new() };
        let mut together = vec![first.clone()];
        let mut length = first.joinable().unwrap_or(usize::MAX);
        for next in self.in_lane(first.lane).filter(|next| next.id > first.id) {
            // A picture of what went on may go behind words of a later turn; between each two of them it would
            // make a message of each.
            if matches!(next.what, What::Clear { .. }) {
                continue;
            }
            let is_alike = (next.thread, &next.speaker) == (first.thread, &first.speaker);
            let fits = next.joinable().filter(|_| is_alike);
            let Some(more) = fits else { break };
            length = length.saturating_add(more + 2);
            if length > POST_UNITS_MAX {
                break;
            }
            together.push(next.clone());
        }
        together
    }

    /// The picture, if one can be shown now without taking anything from what must arrive.
    fn take_picture(&mut self, now: u64, all_at: u64) -> Option<Picture> {
        let pictures = std::mem::take(&mut self.pictures);
        let picture = self.choose(pictures)?;
        let gap = self.shown_at.map_or(0, |at| at + PICTURE_GAP_MS);
        // Two more could follow at once.
        let at = self.banned_until.max(self.budget.free_at(2)).max(all_at).max(gap);
        let free = at <= now && self.items.is_empty() && !self.blocked;
        free.then(|| {
            self.shown_at = Some(now);
            self.drawn.insert(picture.session.clone(), now);
            picture
        })
    }

    /// Which of several is shown. A person's own chat has one place for them, which is the current session's as long
    /// as that works; everywhere else they take turns.
    fn choose(&self, pictures: BTreeMap<String, Picture>) -> Option<Picture> {
        let is_own = self.budget.chat > 0;
        pictures.into_values().min_by_key(|picture| {
            (!(is_own && picture.is_current), self.drawn.get(&picture.session).copied())
        })
    }
}

#[cfg(test)]
mod tests;
