//! What the bot does with what comes: updates of the network on one side, events of the house on the other.
//!
//! It holds nothing but `chat.db`. What follows from an update is written together with the note that it was
//! dealt with; a call to the daemon has the update's number as its key. So it may be killed at any moment.

mod act;
mod again;
mod asks;
mod files;
mod gate;
mod meant;
mod plan;
mod plan_keys;
mod plan_news;
mod press;
mod say;
mod tell;
mod turn;
mod watch;

pub(crate) use asks::settle;
pub use say::{Say, What as SayWhat};
pub use tell::Untold;
pub use turn::mark_of;
pub use watch::Which;

use crate::button::Act;
use crate::channel::{Channel, Me};
use crate::command::{self, Typed};
use crate::desk::{Caller, Desk};
use crate::inbox::Inbox;
use crate::on_the_way::{OnTheWay, Sending};
use crate::outbox::{Draft, Lane};
use crate::policy::{Admitted, Ignored, Lists, Place, Policy, Pressed, Said};
use crate::store::{Change, Store, StoreFault, Update};
use crate::text::Text;
use crate::thread::note;
use crate::told::Told;
use crate::voice::Voice;
use crate::words::{self, About};
use glis_client::Fault;
use glis_core::Status;
use glis_wire::client::{Request, Response};
use glis_wire::view::SessionView;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use watch::Watch;

/// What a bot is made of.
pub struct Setup {
    /// What it knows.
    pub store: Store,
    /// The way to the daemon.
    pub desk: Box<dyn Desk>,
    /// The network, for files that users send. What is said goes through the outbox.
    pub channel: Arc<dyn Channel>,
    /// Where those files lie until the daemon has them.
    pub inbox: Inbox,
    /// What turns a recording into words.
    pub voice: Voice,
    /// Who may use it now.
    pub lists: Box<dyn Fn() -> Lists + Send + Sync>,
    /// Who it is on the network.
    pub me: Me,
    /// Whether a session gets a topic of its own, where the chat has topics.
    pub topics: bool,
    /// Where `/new` works.
    pub repo: Option<String>,
    /// Where it works as well, by name.
    pub repos: BTreeMap<String, String>,
    /// The words for a fault.
    pub explain: fn(Fault) -> Told,
    /// The wall clock, in milliseconds.
    pub clock: fn() -> i64,
    /// Lets time pass before something is tried again.
    pub rest: fn(Duration),
    /// Is told when there is something to send.
    pub ring: Box<dyn Fn() + Send + Sync>,
}

/// A bot.
pub struct Bot {
    store: Mutex<Store>,
    desk: Box<dyn Desk>,
    channel: Arc<dyn Channel>,
    inbox: Inbox,
    voice: Voice,
    lists: Box<dyn Fn() -> Lists + Send + Sync>,
    me: Me,
    topics: bool,
    repo: Option<String>,
    repos: BTreeMap<String, String>,
    explain: fn(Fault) -> Told,
    clock: fn() -> i64,
    rest: fn(Duration),
    ring: Box<dyn Fn() + Send + Sync>,
    drafts: Mutex<Vec<(i64, Draft)>>,
    watch: Watch,
    on_the_way: OnTheWay,
    /// Groups that have other numbers since they were let in.
    moves: Mutex<Vec<(i64, i64)>>,
    /// It is to begin anew.
    wants_anew: AtomicBool,
    /// Whether nothing is sent any more. Held while something is being sent.
    is_silent: Mutex<bool>,
}

/// How an update is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    /// One after the other with what else comes from this chat.
    InTurn(i64),
    /// Beside it: it may take long.
    Aside,
    /// Beside it, one after the other with what else is pressed for this session.
    AsideFor(String),
    /// Beside it, for the session that is meant when its turn comes.
    AsideInTurn(i64),
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
    pub fn new(setup: Setup) -> Result<Self, StoreFault> {
        Ok(Self {
            moves: Mutex::new(setup.store.look().moves()?),
            wants_anew: AtomicBool::new(false),
            store: Mutex::new(setup.store),
            desk: setup.desk,
            channel: setup.channel,
            inbox: setup.inbox,
            voice: setup.voice,
            lists: setup.lists,
            me: setup.me,
            topics: setup.topics,
            repo: setup.repo,
            repos: setup.repos,
            explain: setup.explain,
            clock: setup.clock,
            rest: setup.rest,
            ring: setup.ring,
            drafts: Mutex::default(),
            watch: Watch::default(),
            on_the_way: OnTheWay::default(),
            is_silent: Mutex::default(),
        })
    }

    /// Makes it another one, with this number.
    #[cfg(test)]
    pub(crate) fn rename(&mut self, number: i64) {
        self.me.number = number;
    }

    /// What it knows, and nothing else of it: all that a crash leaves.
    pub fn into_store(self) -> Store {
        self.store.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its own name on the network.
    pub fn name(&self) -> &str {
        &self.me.name
    }

    /// What it knows.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what it knows, and rings for the sender.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&Change<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let changed = self.store().change(change);
        (self.ring)();
        changed
    }

    /// Pictures of what agents are doing, which are shown at once or never.
    pub fn take_drafts(&self) -> Vec<(i64, Draft)> {
        std::mem::take(&mut *self.drafts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Something is being sent, until what is returned goes; `None` if nothing is any more.
    pub(crate) fn sends(&self) -> Option<MutexGuard<'_, bool>> {
        let is_silent = self.is_silent.lock().unwrap_or_else(PoisonError::into_inner);
        (!*is_silent).then_some(is_silent)
    }

    /// Sends nothing any more, since the process is about to go; or does again.
    pub(crate) fn fall_silent(&self, is_silent: bool) {
        *self.is_silent.lock().unwrap_or_else(PoisonError::into_inner) = is_silent;
        (self.ring)();
    }

    /// A card is being sent to this chat, until what is returned goes.
    pub(crate) fn sends_card(&self, chat: i64) -> Sending<'_> {
        self.on_the_way.begin(chat)
    }

    /// Who may use it now.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.moved((self.lists)().now)
    }

    fn moved(&self, policy: Arc<Policy>) -> Arc<Policy> {
        let moves = self.moves();
        if moves.is_empty() { policy } else { Arc::new(policy.moved(&moves)) }
    }

    fn moves(&self) -> Vec<(i64, i64)> {
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets an update in, or not; a fault as long as that is not sure. A group has its present number.
    fn admit(&self, update: &Value) -> Result<Result<Admitted, Ignored>, StoreFault> {
        let Lists { now, before } = (self.lists)();
        let admitted = self.moved(now).admit(update);
        let was = before.is_some_and(|before| self.moved(before).admit(update).is_ok());
        if admitted.is_err() && was {
            return Err(StoreFault::Unsettled);
        }
        let moves = self.moves();
        let here = |place: Place| {
            let moved = moves.iter().find(|(from, _)| *from == place.chat);
            Place { chat: moved.map_or(place.chat, |(_, to)| *to), ..place }
        };
        Ok(admitted.map(|admitted| match admitted {
            Admitted::Said(said) => Admitted::Said(Said { place: here(said.place), ..said }),
            Admitted::Pressed(it) => Admitted::Pressed(Pressed { place: here(it.place), ..it }),
        }))
    }

    /// A group has another number: everything of it goes on there, from a new beginning on.
    pub(crate) fn move_chat(&self, from: i64, to: i64) -> Result<(), StoreFault> {
        let place = Place { chat: to, thread: None };
        let say = Say::text(place, Lane::Approval, words::moved(to));
        let now = self.now();
        let (is_new, moves) = self.store().change(|change| {
            let is_new = !change.look().moves()?.contains(&(from, to));
            change.move_chat(from, to)?;
            if is_new {
                say.put(change, 0, now)?;
            }
            Ok((is_new, change.look().moves()?))
        })?;
        *self.moves.lock().unwrap_or_else(PoisonError::into_inner) = moves;
        if is_new {
            self.wants_anew.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Notes why something was not written down. A file that is broken is another one after a new beginning.
    pub(crate) fn note(&self, fault: &StoreFault) {
        note(&fault.to_string());
        if fault.is_damage() {
            self.wants_anew.store(true, Ordering::Release);
        }
    }

    /// Whether it is to begin anew: it goes by what it knew when it began.
    pub(crate) fn wants_anew(&self) -> bool {
        self.wants_anew.load(Ordering::Acquire)
    }

    fn now(&self) -> i64 {
        (self.clock)()
    }

    /// From where on the network is asked for updates: behind those that it was not yet told are taken in, and
    /// from none if there are none. After a week of silence it counts from anywhere, also from below.
    pub fn offset(&self) -> Result<Option<i64>, StoreFault> {
        let now = self.now();
        self.store().look().offset(now)
    }

    /// Writes down what has come, before anything is done about it; what is not let in is only counted.
    /// Returns the numbers of those that are to be dealt with. That nothing has come tells that the network knows of
    /// all that was taken in.
    pub fn take_in(&self, updates: &[Value], late: Late) -> Result<Vec<i64>, StoreFault> {
        let now = self.now();
        if updates.is_empty() {
            if self.offset()?.is_some() {
                self.store().change(|change| change.set_offset(None, now))?;
            }
            return Ok(Vec::new());
        }
        let policy = self.policy();
        let moves = updates.iter().position(|update| policy.moves(update).is_some());
        // What comes behind comes again, to a bot that knows of it.
        let updates = moves.and_then(|at| updates.get(..=at)).unwrap_or(updates);
        if let Some((from, to)) = updates.last().and_then(|update| policy.moves(update)) {
            self.move_chat(from, to)?;
        }
        self.change(|change| {
            let mut fresh = Vec::new();
            let mut offset = 0;
            for update in updates {
                let Some(id) = update.get("update_id").and_then(Value::as_i64) else { continue };
                offset = offset.max(id + 1);
                let Ok(admitted) = self.admit(update)? else {
                    change.count_stranger()?;
                    continue;
                };
                if let Some((user, name)) = meant::called(update) {
                    change.note_name(user, &name)?;
                }
                let at = match &admitted {
                    Admitted::Said(said) => said.at,
                    Admitted::Pressed(pressed) => pressed.shown_at,
                };
                let late = match late {
                    Late::After(ms) => now - at * 1000 > ms,
                    Late::Never => false,
                };
                if change.record(&Update { id, body: update.to_string(), late }, now)? {
                    fresh.push(id);
                }
            }
            change.set_offset(Some(offset), now)?;
            Ok(fresh)
        })
    }

    /// How an update is to be carried out; `None` if there is nothing to do. Asked in the order in which they
    /// came: of several buttons of a card the one that was pressed first counts, and what it does takes
    /// its time aside.
    pub fn course(&self, id: i64) -> Result<Option<Course>, StoreFault> {
        let update = self.store().look().update(id)?;
        let Some(update) = update else { return Ok(None) };
        let value = read(&update.body);
        let Ok(admitted) = self.admit(&value)? else {
            self.change(|change| change.done(id))?;
            return Ok(None);
        };
        Ok(Some(match admitted {
            Admitted::Pressed(pressed) => match self.claim(&pressed)? {
                // What is typed behind these is meant for where they lead.
                Ok(Act::Switch { .. } | Act::RunLate { .. }) => Course::InTurn(pressed.place.chat),
                Ok(act) => match act.session() {
                    Some(session) => Course::AsideFor(session.to_owned()),
                    None => Course::Aside,
                },
                Err(_) => return Ok(None),
            },
            Admitted::Said(said) => match command::read(&said.text, &self.me.name) {
                Typed::Command(command) if command.runs_aside() && !update.late => {
                    Course::AsideInTurn(said.place.chat)
                }
                Typed::Command(_) | Typed::Words | Typed::NotForUs => {
                    Course::InTurn(said.place.chat)
                }
            },
        }))
    }

    /// Deals with an update that was written down. Done again after a crash, it does no more than once.
    pub fn deal_with(&self, id: i64) -> Result<(), StoreFault> {
        let update = self.store().look().update(id)?;
        let Some(update) = update else { return Ok(()) };
        let value = read(&update.body);
        // Asked again: the configuration may be another one since.
        match self.admit(&value)? {
            Ok(Admitted::Said(said)) => self.hear(&update, &said),
            Ok(Admitted::Pressed(pressed)) => self.press(&update, &pressed),
            Err(_) => self.change(|change| change.done(id)),
        }
    }

    fn asked(&self, said: &Said) -> Asked {
        let Said { update, user, place, reply_to, .. } = *said;
        let (topic, caller) = (self.topic_in(said.forum), self.caller(user, update));
        Asked { update, user, place, reply_to, topic, caller }
    }

    fn hear(&self, update: &Update, said: &Said) -> Result<(), StoreFault> {
        if !self.is_addressed(said)? {
            return self.change(|change| change.done(said.update));
        }
        let text = command::named(&said.text, &self.me.name).unwrap_or(&said.text);
        let said = &Said { text: text.to_owned(), ..said.clone() };
        let asked = self.asked(said);
        if said.text.is_empty() && said.file.is_none() {
            return self.reply(&asked, words::NO_WORDS);
        }
        let typed = command::read(&said.text, &self.me.name);
        if said.file.is_some() && matches!(typed, Typed::Command(_)) {
            return self.reply(&asked, words::COMMAND_WITH_FILE);
        }
        let looks = matches!(&typed, Typed::Command(command) if command.only_looks());
        if update.late && !looks && typed != Typed::NotForUs {
            return self.offer_late(&asked, said);
        }
        match typed {
            Typed::NotForUs => self.change(|change| change.done(said.update)),
            Typed::Words => self.words(&asked, said),
            Typed::Command(command) => self.command(&asked, command),
        }
    }

    /// Who a call for an update is from. Another bot's updates have the same numbers.
    fn caller(&self, user: i64, update: i64) -> Caller {
        Caller { user, key: format!("telegram-{}-{update}", self.me.number) }
    }

    /// What a session gets in a chat that has topics, or has none.
    fn topic_in(&self, forum: bool) -> Topic {
        if forum && self.topics { Topic::Own } else { Topic::None }
    }

    /// The answer to an update, with what changes with it.
    fn answer(
        &self,
        asked: &Asked,
        says: &[Say],
        with: impl FnOnce(&Change<'_>) -> Result<(), StoreFault>,
    ) -> Result<(), StoreFault> {
        let now = self.now();
        self.change(|change| {
            with(change)?;
            for say in says {
                say.put(change, asked.user, now)?;
            }
            change.done(asked.update)
        })
    }

    /// The answer to an update, in plain words.
    fn reply(&self, asked: &Asked, text: impl Into<Text>) -> Result<(), StoreFault> {
        self.answer(asked, &[Say::text(asked.place, Lane::Reply, text)], |_| Ok(()))
    }

    /// The answer to an update that came to nothing.
    fn complain(&self, asked: &Asked, fault: Fault) -> Result<(), StoreFault> {
        let session = self.here(asked)?;
        let current = self.name_in(asked.place.chat, session.as_deref())?;
        self.tell_fault(asked, &(self.explain)(fault), About::Session(current.as_deref()))
    }

    fn tell_fault(&self, asked: &Asked, told: &Told, about: About<'_>) -> Result<(), StoreFault> {
        self.reply(asked, words::fault(&told.message, told.hint.as_deref(), about))
    }

    fn show(&self, caller: &Caller, session: &str) -> Result<SessionView, Fault> {
        let request = Request::Show { session: session.to_owned() };
        let Response::Session(session) = self.desk.call(caller, request)? else {
            return Err(Fault::unfit());
        };
        Ok(*session)
    }

    /// A session as it is, seen by no person: a wait that is over at once. `show` would count as a look.
    fn look_at(&self, session: &str) -> Result<SessionView, Fault> {
        let statuses = Status::ALL.to_vec();
        let request = Request::Wait { session: session.to_owned(), statuses, timeout_ms: Some(0) };
        let Response::Session(session) = self.desk.call(&asks::bot_itself(), request)? else {
            return Err(Fault::unfit());
        };
        Ok(*session)
    }
}

/// Whether a session gets a topic of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Own,
    None,
}

/// An update as it was written down.
fn read(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_default()
}

/// From which age on what was said counts as late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// The network was listened to all the time: nothing is late.
    Never,
    /// After so many milliseconds.
    After(i64),
}
