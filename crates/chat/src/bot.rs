//! What the bot does with what comes: updates of the network on one side, events of the house on the other.
//!
//! It holds nothing but `chat.db`. What follows from an update is written together with the note that it was
//! dealt with; a call to the daemon has the update's number as its key. So it may be killed at any moment.

mod act;
mod asks;
mod files;
mod plan;
mod press;
mod say;
mod tell;
mod turn;
mod watch;

pub(crate) use asks::settle;
pub use turn::mark_of;

use crate::button::{Act, Keys};
use crate::channel::{Channel, Me};
use crate::command::{self, Typed};
use crate::desk::{Caller, Desk};
use crate::inbox::Inbox;
use crate::outbox::{Lane, Picture};
use crate::policy::{Admitted, Did, Place, Policy, Said};
use crate::store::{Change, Store, StoreFault, Update};
use crate::text::Text;
use crate::thread::{locked, note};
use crate::voice::Voice;
use crate::words::{self, About};
use glis_client::Fault;
use glis_verbs::Complaint;
use glis_wire::client::{Request, Response};
use glis_wire::view::SessionView;
use say::Say;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use watch::Watch;

/// Why the bot comes to nothing with something.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum BotFault {
    /// What the bot knows cannot be changed: it is tried again.
    Store(#[from] StoreFault),
    /// The daemon refuses, or cannot be asked: who has asked for it is told.
    House(#[from] Fault),
}

/// What came of something that the daemon is asked for.
type Dealt<T = ()> = Result<T, BotFault>;

/// The daemon has answered something else.
fn unfit() -> BotFault {
    Fault::unfit().into()
}

/// What a bot is made of, beside what it knows.
pub struct Setup {
    pub desk: Box<dyn Desk>,
    /// The network, for files that users send. What is said goes through the outbox.
    pub channel: Arc<dyn Channel>,
    /// Where those files lie until the daemon has them.
    pub inbox: Inbox,
    /// What turns a recording into words.
    pub voice: Voice,
    /// Who may use it now.
    pub policy: Box<dyn Fn() -> Arc<Policy> + Send + Sync>,
    pub me: Me,
    /// Whether a session gets a topic of its own, where the chat has topics.
    pub topics: bool,
    /// Where `/new` works.
    pub repo: Option<String>,
    /// Where it works as well, by name.
    pub repos: BTreeMap<String, String>,
    /// The wall clock, in milliseconds.
    pub clock: fn() -> i64,
    /// The milliseconds that have passed since something in the past.
    pub passed: fn() -> u64,
    /// Lets time pass before something is tried again.
    pub rest: fn(Duration),
    pub wake: Box<dyn Fn() + Send + Sync>,
}

pub struct Bot {
    store: Mutex<Store>,
    its: Setup,
    /// By the chat that they are for.
    pictures: Mutex<BTreeMap<i64, Vec<Picture>>>,
    /// Chats in which something was said since their senders asked.
    heard: Mutex<BTreeSet<i64>>,
    watch: Watch,
    /// It is to begin anew.
    wants_anew: AtomicBool,
    /// Whether nothing is sent any more. Held while something is being sent.
    is_silent: RwLock<bool>,
}

/// How an update is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    /// One after the other with what else is in this line.
    InTurn(Line),
    /// Beside everything else: it may take long.
    Aside,
    /// Beside it, for the session that is meant when its turn comes in this chat.
    AsideInTurn(i64),
}

/// What is dealt with one after the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    Chat(i64),
    /// What is pressed for a session.
    Session(String),
}

/// Everything that came with one update, ready to be answered.
struct Asked {
    update: i64,
    user: i64,
    place: Place,
    /// The message that it answers.
    reply_to: Option<i64>,
    /// What a session gets that is made here.
    topic: Topic,
    caller: Caller,
}

impl Bot {
    /// A bot of these parts.
    pub fn new(mut store: Store, its: Setup) -> Result<Self, StoreFault> {
        store.clock = its.clock;
        Ok(Self {
            store: Mutex::new(store),
            its,
            pictures: Mutex::default(),
            heard: Mutex::default(),
            watch: Watch::default(),
            wants_anew: AtomicBool::new(false),
            is_silent: RwLock::default(),
        })
    }

    /// Makes it another one, with this number.
    #[cfg(test)]
    pub(crate) fn rename(&mut self, number: i64) {
        self.its.me.number = number;
    }

    /// What it knows, and nothing else of it: all that a crash leaves.
    pub fn into_store(self) -> Store {
        self.store.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its own name on the network.
    pub fn name(&self) -> &str {
        &self.its.me.name
    }

    pub fn store(&self) -> MutexGuard<'_, Store> {
        locked(&self.store)
    }

    /// Changes what it knows, and wakes the senders.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&Change<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let changed = self.store().change(change);
        (self.its.wake)();
        changed
    }

    /// Pictures of what agents are doing, which are shown at once or never.
    pub fn take_pictures(&self, chat: i64) -> Vec<Picture> {
        locked(&self.pictures).remove(&chat).unwrap_or_default()
    }

    /// The chats for which there is something to send or to show.
    pub(crate) fn chats_to_serve(&self) -> Result<BTreeSet<i64>, StoreFault> {
        let waiting = self.store().look().waiting(0)?;
        let drawn: Vec<i64> = locked(&self.pictures).keys().copied().collect();
        Ok(waiting.into_iter().map(|item| item.chat).chain(drawn).collect())
    }

    /// Whether something was said in this chat since this was last asked.
    pub(crate) fn was_heard(&self, chat: i64) -> bool {
        locked(&self.heard).remove(&chat)
    }

    /// Something was said in this chat: it is open again.
    pub(crate) fn hear_from(&self, chat: i64) {
        locked(&self.heard).insert(chat);
    }

    /// Something is being sent, until what is returned goes; `None` if nothing is any more.
    pub(crate) fn sends(&self) -> Option<RwLockReadGuard<'_, bool>> {
        let is_silent = self.is_silent.read().unwrap_or_else(PoisonError::into_inner);
        (!*is_silent).then_some(is_silent)
    }

    /// Sends nothing any more, since the process is about to go.
    pub(crate) fn fall_silent(&self) {
        *self.is_silent.write().unwrap_or_else(PoisonError::into_inner) = true;
        (self.its.wake)();
    }

    /// Notes why something was not written down. A file that is broken is another one after a new beginning.
    pub(crate) fn note(&self, fault: &BotFault) {
        note(&fault.to_string());
        if matches!(fault, BotFault::Store(fault) if fault.is_damage()) {
            self.wants_anew.store(true, Ordering::Release);
        }
    }

    /// Whether it is to begin anew: it goes by what it knew when it began.
    pub(crate) fn wants_anew(&self) -> bool {
        self.wants_anew.load(Ordering::Acquire)
    }

    /// Who may use it now.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        (self.its.policy)()
    }

    pub(crate) fn now(&self) -> i64 {
        (self.its.clock)()
    }

    pub(crate) fn passed(&self) -> u64 {
        (self.its.passed)()
    }

    /// From where on the network is asked for updates: behind those that it was not yet told are taken in, and
    /// from none if there are none. After a week of silence it counts from anywhere, also from below.
    pub fn offset(&self) -> Result<Option<i64>, StoreFault> {
        let now = self.now();
        self.store().look().offset(now)
    }

    /// Writes down what has come, before anything is done about it; what is not let in is forgotten.
    /// Returns those that are to be dealt with. That nothing has come tells that the network knows of
    /// all that was taken in.
    pub fn take_in(&self, updates: &[Value], late: Late) -> Result<Vec<Fresh>, StoreFault> {
        let now = self.now();
        if updates.is_empty() {
            if self.offset()?.is_some() {
                self.store().change(|change| {
                    change.forget_old(now)?;
                    change.set_offset(None, now)
                })?;
            }
            return Ok(Vec::new());
        }
        let policy = self.policy();
        self.change(|change| {
            let mut fresh = Vec::new();
            let mut offset = 0;
            for update in updates {
                let Some(id) = update.get("update_id").and_then(Value::as_i64) else { continue };
                offset = offset.max(id + 1);
                let Some(what) = policy.admit(update) else { continue };
                if let Some((user, name)) = act::called(update) {
                    change.note_name(user, &name)?;
                }
                let late = match late {
                    Late::After(ms) => now - what.at * 1000 > ms,
                    Late::Never => false,
                };
                self.hear_from(what.place.chat);
                let body = update.to_string();
                if change.record(&Update { id, body, at: now, late, ..Update::default() })? {
                    fresh.push(Fresh { late, what });
                }
            }
            change.set_offset(Some(offset), now)?;
            Ok(fresh)
        })
    }

    /// What was written down and not dealt with, as it would be let in now.
    pub fn undone(&self) -> Result<Vec<Fresh>, StoreFault> {
        let undone = self.store().look().undone()?;
        let taken = undone.iter().map(|update| self.taken(update));
        Ok(taken.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// An update that was written down; one that is not let in any more is done.
    fn taken(&self, update: &Update) -> Result<Option<Fresh>, StoreFault> {
        let body = serde_json::from_str(&update.body).unwrap_or_default();
        match self.policy().admit(&body) {
            Some(what) => Ok(Some(Fresh { late: update.late, what })),
            None => self.change(|change| change.done(update.id)).map(|()| None),
        }
    }

    /// How an update is to be carried out; `None` if there is nothing to do. Asked in the order in which they
    /// came: of several buttons of a card the one that was pressed first counts, and what it does takes
    /// its time aside.
    pub fn course(&self, fresh: &Fresh) -> Result<Option<Course>, StoreFault> {
        let chat = fresh.what.place.chat;
        let in_turn = Course::InTurn(Line::Chat(chat));
        Ok(Some(match &fresh.what.did {
            Did::Pressed(pressed) => match self.claim(&fresh.what, pressed)? {
                // What is typed behind these is meant for where they lead.
                Ok(Act::Switch { .. } | Act::RunLate { .. }) => in_turn,
                Ok(act) => act.session().map_or(Course::Aside, |session| {
                    Course::InTurn(Line::Session(session.to_owned()))
                }),
                Err(_) => return Ok(None),
            },
            Did::Said(said) => match command::read(&said.text, &self.its.me.name) {
                Typed::Command(command) if command.runs_aside() && !fresh.late => {
                    Course::AsideInTurn(chat)
                }
                Typed::Command(_) | Typed::Words | Typed::NotForUs => in_turn,
            },
        }))
    }

    /// Deals with an update that was written down. Done again after a crash, it does no more than once.
    pub fn deal_with(&self, fresh: &Fresh) -> Dealt {
        // Asked again: the configuration may be another one since.
        if !self.policy().lets_in(fresh.what.user, fresh.what.place.chat) {
            return Ok(self.change(|change| change.done(fresh.what.update))?);
        }
        let asked = self.asked(&fresh.what);
        let dealt = match &fresh.what.did {
            Did::Said(said) => self.hear(&asked, fresh, said),
            Did::Pressed(pressed) => self.press(&asked, fresh, pressed),
        };
        match dealt {
            Err(BotFault::House(fault)) => self.complain(&asked, fault),
            dealt => dealt,
        }
    }

    fn asked(&self, what: &Admitted) -> Asked {
        let Admitted { update, user, place, forum, .. } = *what;
        let reply_to = match &what.did {
            Did::Said(said) => said.reply_to,
            Did::Pressed(_) => None,
        };
        let topic = if forum && self.its.topics { Topic::Own } else { Topic::None };
        // Another bot's updates have the same numbers.
        let key = format!("telegram-{}-{update}", self.its.me.number);
        Asked { update, user, place, reply_to, topic, caller: Caller { user, key } }
    }

    fn hear(&self, asked: &Asked, fresh: &Fresh, said: &Said) -> Dealt {
        let name = &self.its.me.name;
        if !self.is_addressed(asked, said)? {
            return self.answer(asked, &[], |_| Ok(()));
        }
        let text = command::named(&said.text, name).unwrap_or(&said.text);
        let said = &Said { text: text.to_owned(), ..said.clone() };
        if said.text.is_empty() && said.file.is_none() {
            return self.reply(asked, words::NO_WORDS);
        }
        let typed = command::read(&said.text, name);
        if said.file.is_some() && matches!(typed, Typed::Command(_)) {
            return self.reply(asked, words::COMMAND_WITH_FILE);
        }
        let looks = matches!(&typed, Typed::Command(command) if command.only_looks());
        if fresh.late && !looks && typed != Typed::NotForUs {
            return self.offer_late(asked, said, fresh.what.at);
        }
        match typed {
            Typed::NotForUs => self.answer(asked, &[], |_| Ok(())),
            Typed::Words => self.words(asked, said),
            Typed::Command(command) => self.command(asked, command),
        }
    }

    /// The answer to an update, with what changes with it.
    fn answer(
        &self,
        asked: &Asked,
        says: &[Say],
        with: impl FnOnce(&Change<'_>) -> Result<(), StoreFault>,
    ) -> Dealt {
        Ok(self.change(|change| {
            with(change)?;
            says.iter().try_for_each(|say| say.put(change, asked.user))?;
            change.done(asked.update)
        })?)
    }

    /// The answer to an update, in plain words.
    fn reply(&self, asked: &Asked, text: impl Into<Text>) -> Dealt {
        self.answer(asked, &[Say::text(asked.place, Lane::Reply, text)], |_| Ok(()))
    }

    /// The answer to an update, with buttons.
    fn reply_with(&self, asked: &Asked, text: impl Into<Text>, keys: Keys) -> Dealt {
        self.answer(asked, &[Say::card(asked.place, Lane::Reply, text, keys)], |_| Ok(()))
    }

    /// The answer to an update that came to nothing.
    fn complain(&self, asked: &Asked, fault: Fault) -> Dealt {
        let session = self.here(asked)?;
        let current = self.name_in(asked.place.chat, session.as_deref())?;
        self.tell_fault(asked, fault, About::Session(current.as_deref()))
    }

    fn tell_fault(&self, asked: &Asked, fault: Fault, about: About<'_>) -> Dealt {
        let told = Complaint::from(fault);
        self.reply(asked, words::fault(&told.message, told.hint.as_deref(), about))
    }

    /// Asks for something in the name of who has asked for it. It is carried out once, whoever dies when.
    fn call(&self, asked: &Asked, request: Request) -> Result<Response, Fault> {
        self.its.desk.call(&asked.caller, request)
    }

    /// A look that no user has asked for.
    fn look(&self, request: Request) -> Result<Response, Fault> {
        self.its.desk.call(&Caller { user: 0, key: "bot".to_owned() }, request)
    }

    fn show(&self, asked: &Asked, session: &str) -> Result<SessionView, Fault> {
        session_of(self.call(asked, Request::Show { session: session.to_owned() })?)
    }

    /// A session as it is, seen by no person.
    fn look_at(&self, session: &str) -> Result<SessionView, Fault> {
        session_of(self.look(Request::glance(session))?)
    }
}

fn session_of(response: Response) -> Result<SessionView, Fault> {
    if let Response::Session(session) = response { Ok(*session) } else { Err(Fault::unfit()) }
}

/// Whether a session gets a topic of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Own,
    None,
}

/// An update that is written down and let in, on its way to who deals with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// It came long after it was sent.
    pub late: bool,
    pub what: Admitted,
}

/// From which age on what was said counts as late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// The network was listened to all the time: nothing is late.
    Never,
    /// After so many milliseconds.
    After(i64),
}
