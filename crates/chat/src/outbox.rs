//! What waits to be sent, and when it may be: one budget a chat over all methods, lanes by importance, and
//! what the network says about waiting obeyed to the second.
//!
//! Nothing here sends, and time is handed in, in milliseconds of a clock that only goes forward. An item stays
//! until the network has taken it. A crash may repeat one; none is lost.

mod budget;
mod item;

pub(crate) use item::together;
pub use item::{Item, Key, Lane, What, Whole, Worn};

use crate::text::Text;
use budget::Budget;
use std::collections::BTreeMap;

/// What a network takes as one message.
pub const POST_UNITS_MAX: usize = 4096;
/// A ban ends on the network's clock, and a request that comes early makes it longer.
const BAN_MARGIN_MS: u64 = 200;
/// Between two looks of a draft; more often is a flood for the network.
const DRAFT_GAP_MS: u64 = 1500;
/// After so many faults of the server with one item it may be the item's: it is, if the server takes others.
const FAULTS_MAX: u32 = 5;
/// Waiting after faults of the network, by how many there were in a row.
const BACKOFF_MS: [u64; 6] = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
/// Beyond so many replies in one chat, the oldest goes: a person who asks so much at once is none.
const REPLIES_MAX: usize = 256;

/// A picture of what an agent is doing, which the next one replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The topic.
    pub thread: Option<i64>,
    /// The session that it shows.
    pub session: String,
    /// Whether that is the one that its chat talks to.
    pub is_current: bool,
    /// What to show.
    pub text: Text,
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Send these as one message; report what came of it.
    Send(Vec<Item>),
    /// Show this in that chat; report what came of it.
    Show(i64, Draft),
    /// Nothing before this time.
    Wait(u64),
    /// Nothing until something is added.
    Idle,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The network has it, under this number if it has one.
    Sent(Option<i64>),
    /// Not before so many seconds.
    TooMany(u64),
    /// The network cannot be reached, or answers nothing that makes sense.
    Unreachable,
    /// The network has a fault of its own.
    ServerFault,
    /// The network does not take it as it is.
    Refused,
    /// The topic is not there any more.
    TopicGone,
    /// The user has shut the bot out of this chat.
    Blocked,
}

/// What became of items.
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

/// What waits, by chat.
#[derive(Debug, Default)]
pub struct Outbox {
    chats: BTreeMap<i64, Queue>,
    /// Of all chats together.
    budget: Budget,
    /// The network could not be reached: nothing is tried before this time.
    away_until: u64,
    strikes: usize,
    /// Counts what was sent, so that no chat waits for another.
    served: u64,
    /// When something was last taken, by that count.
    taken: u64,
}

#[derive(Debug)]
struct Queue {
    /// By lane, then by age.
    items: BTreeMap<(Lane, u64), Item>,
    budget: Budget,
    banned_until: u64,
    blocked: bool,
    /// Another lane than the first goes first: the server has had many faults with that.
    steps_back: bool,
    /// Of each session the last one.
    drafts: BTreeMap<String, Draft>,
    drafted_at: Option<u64>,
    /// When each session was last shown.
    drawn: BTreeMap<String, u64>,
    /// When it was last served.
    served: u64,
}

impl Outbox {
    /// Nothing waits.
    pub fn new() -> Self {
        Self { budget: Budget::of_all(), ..Self::default() }
    }

    fn queue(&mut self, chat: i64) -> &mut Queue {
        self.chats.entry(chat).or_insert_with(|| Queue::new(Budget::of_chat(chat)))
    }

    /// Adds an item. Those that had to go for it are told.
    pub fn push(&mut self, item: Item) -> Vec<u64> {
        let queue = self.queue(item.chat);
        let lane = item.lane;
        let most = match lane {
            Lane::Reply => REPLIES_MAX,
            Lane::Approval | Lane::Final => usize::MAX,
        };
        queue.items.insert((lane, item.id), item);
        let mut alike: Vec<u64> = queue.in_lane(lane).map(|item| item.id).collect();
        alike.truncate(alike.len().saturating_sub(most));
        for id in &alike {
            queue.items.remove(&(lane, *id));
        }
        alike
    }

    /// Takes an item out that is not wanted any more.
    pub fn withdraw(&mut self, id: u64) {
        for queue in self.chats.values_mut() {
            queue.items.retain(|(_, known), _| *known != id);
        }
    }

    /// Shows this as soon as asked, or never: it is not kept.
    pub fn draft(&mut self, chat: i64, draft: Draft) {
        self.queue(chat).drafts.insert(draft.session.clone(), draft);
    }

    /// Nothing goes to this chat before that time.
    pub fn ban(&mut self, chat: i64, until: u64) {
        let queue = self.queue(chat);
        queue.banned_until = queue.banned_until.max(until);
    }

    /// Up to when a chat is banned.
    pub fn banned_until(&self, chat: i64) -> u64 {
        self.chats.get(&chat).map_or(0, |queue| queue.banned_until)
    }

    /// Something was said in this chat: it is open again.
    pub fn heard_from(&mut self, chat: i64) {
        if let Some(queue) = self.chats.get_mut(&chat) {
            queue.blocked = false;
        }
    }

    /// Nothing of what waits for this chat is for it any more.
    pub fn leave(&mut self, chat: i64) {
        self.chats.remove(&chat);
    }

    /// Nothing goes to this chat until it is open again.
    pub fn shut(&mut self, chat: i64) {
        self.queue(chat).blocked = true;
    }

    /// Every chat is tried again.
    pub fn open_all(&mut self) {
        self.chats.values_mut().for_each(|queue| queue.blocked = false);
    }

    /// How many items wait.
    pub fn waiting(&self) -> usize {
        self.chats.values().map(|queue| queue.items.len()).sum()
    }

    /// Takes out what is too late to be of use.
    pub fn expire(&mut self, now: u64) -> Vec<u64> {
        let mut gone = Vec::new();
        for queue in self.chats.values_mut() {
            queue.items.retain(|(_, id), item| {
                let late = item.expires.is_some_and(|end| end <= now);
                if late {
                    gone.push(*id);
                }
                !late
            });
        }
        gone
    }

    /// What is to be done now.
    pub fn next(&mut self, now: u64) -> Next {
        let all_at = self.away_until.max(self.budget.free_at(0));
        let found = self.chats.iter().filter_map(|(chat, queue)| {
            let first = queue.items.keys().next().filter(|_| !queue.blocked)?;
            Some((queue.free_at().max(all_at), first.0, queue.served, *chat))
        });
        let (ready, later): (Vec<_>, Vec<_>) = found.partition(|(at, ..)| *at <= now);
        let drafts = self.chats.values_mut().filter_map(|queue| queue.take_draft(now, all_at));
        // One that cannot be shown now is not shown at all.
        let drafts: Vec<(i64, Draft)> = drafts.collect();
        let best = ready.iter().min_by_key(|(_, lane, served, chat)| (*lane, *served, *chat));
        if let Some((.., chat)) = best {
            let chat = *chat;
            return Next::Send(self.queue(chat).first_together());
        }
        if let Some((chat, draft)) = drafts.into_iter().next() {
            return Next::Show(chat, draft);
        }
        later.iter().map(|(at, ..)| *at).min().map_or(Next::Idle, Next::Wait)
    }

    /// Takes note of what came of a request with these items.
    pub fn report(&mut self, sent: &[Item], now: u64, outcome: &Outcome) -> Settled {
        let Some(first) = sent.first() else { return Settled::Waiting };
        self.count(first.chat, now, outcome);
        let (served, taken) = (self.served, self.taken);
        match outcome {
            Outcome::Sent(_) => match first.behind_file() {
                Some(card) => self.change(card),
                None => self.gone(sent),
            },
            Outcome::TooMany(_) | Outcome::Unreachable | Outcome::Blocked => Settled::Waiting,
            Outcome::ServerFault => {
                let queue = self.queue(first.chat);
                let Some(item) = queue.items.get_mut(&(first.lane, first.id)) else {
                    return Settled::Waiting;
                };
                item.faults += 1;
                if item.faults < FAULTS_MAX {
                    return Settled::Waiting;
                }
                let doubted = *item.doubted.get_or_insert(served);
                if taken > doubted {
                    return self.wear(sent);
                }
                // What another one steps back for does not.
                queue.steps_back = queue.items.keys().next() == Some(&(first.lane, first.id));
                Settled::Waiting
            }
            Outcome::TopicGone => match first.thread {
                Some(thread) => self.leave_topic(first.chat, thread),
                None => self.wear(sent),
            },
            Outcome::Refused => self.wear(sent),
        }
    }

    fn leave_topic(&mut self, chat: i64, thread: i64) -> Settled {
        for item in self.queue(chat).items.values_mut() {
            item.thread = item.thread.filter(|known| *known != thread);
        }
        Settled::OutOfTopic(thread)
    }

    /// Takes note of what came of a draft. It is not repeated, whatever that was, and a server that fails at one may
    /// well take words.
    pub fn report_draft(&mut self, chat: i64, now: u64, outcome: &Outcome) {
        let failed = *outcome == Outcome::ServerFault;
        self.count(chat, now, if failed { &Outcome::Refused } else { outcome });
    }

    fn count(&mut self, chat: i64, now: u64, outcome: &Outcome) {
        self.served += 1;
        let served = self.served;
        self.budget.spend(now);
        if let Outcome::Sent(_) = outcome {
            self.taken = served;
        }
        let queue = self.queue(chat);
        queue.served = served;
        queue.steps_back = false;
        queue.budget.spend(now);
        match outcome {
            Outcome::Sent(_) | Outcome::Refused | Outcome::TopicGone => self.strikes = 0,
            Outcome::TooMany(secs) => {
                let ends = now.saturating_add(secs.saturating_mul(1000).max(1000) + BAN_MARGIN_MS);
                queue.banned_until = queue.banned_until.max(ends);
                self.strikes = 0;
            }
            Outcome::Blocked => queue.blocked = true,
            Outcome::Unreachable | Outcome::ServerFault => {
                let pause = BACKOFF_MS.get(self.strikes).or(BACKOFF_MS.last()).copied();
                self.away_until = now + pause.unwrap_or_default();
                self.strikes += 1;
            }
        }
    }

    fn gone(&mut self, items: &[Item]) -> Settled {
        for item in items {
            self.queue(item.chat).items.remove(&(item.lane, item.id));
        }
        Settled::Gone(items.iter().map(|item| item.id).collect())
    }

    /// What is not taken as it is, is sent in a plainer form; of several, each alone.
    fn wear(&mut self, sent: &[Item]) -> Settled {
        let [one] = sent else {
            let Some(first) = sent.first() else { return Settled::Waiting };
            return self.change(Item { alone: true, faults: 0, doubted: None, ..first.clone() });
        };
        match one.plainer() {
            Some(plainer) => self.change(plainer),
            // Even a short plain line is refused: this chat takes nothing, and what it was for stays.
            None if one.is_lasting() => {
                self.queue(one.chat).blocked = true;
                Settled::Waiting
            }
            None => self.gone(sent),
        }
    }

    fn change(&mut self, item: Item) -> Settled {
        self.queue(item.chat).items.insert((item.lane, item.id), item.clone());
        Settled::Changed(Box::new(item))
    }
}

impl Queue {
    fn new(budget: Budget) -> Self {
        Self {
            items: BTreeMap::new(),
            budget,
            banned_until: 0,
            blocked: false,
            steps_back: false,
            drafts: BTreeMap::new(),
            drafted_at: None,
            drawn: BTreeMap::new(),
            served: 0,
        }
    }

    fn in_lane(&self, lane: Lane) -> impl Iterator<Item = &Item> {
        self.items.range((lane, 0)..=(lane, u64::MAX)).map(|(_, item)| item)
    }

    fn free_at(&self) -> u64 {
        self.banned_until.max(self.budget.free_at(0))
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

    /// The draft, if one can be shown now without taking anything from what must arrive.
    fn take_draft(&mut self, now: u64, all_at: u64) -> Option<(i64, Draft)> {
        let drafts = std::mem::take(&mut self.drafts);
        let draft = self.choose(drafts)?;
        let gap = self.drafted_at.map_or(0, |at| at + DRAFT_GAP_MS);
        // Two more could follow at once.
        let at = self.banned_until.max(self.budget.free_at(2)).max(all_at).max(gap);
        let free = at <= now && self.items.is_empty() && !self.blocked;
        free.then(|| {
            self.drafted_at = Some(now);
            self.drawn.insert(draft.session.clone(), now);
            (self.budget.chat, draft)
        })
    }

    /// Which of several is shown. A person's own chat has one place for them, which is the current session's as long
    /// as that works; everywhere else they take turns.
    fn choose(&self, drafts: BTreeMap<String, Draft>) -> Option<Draft> {
        let is_own = self.budget.chat > 0;
        drafts.into_values().min_by_key(|draft| {
            (!(is_own && draft.is_current), self.drawn.get(&draft.session).copied())
        })
    }
}

#[cfg(test)]
mod tests;
