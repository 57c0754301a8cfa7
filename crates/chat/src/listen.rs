//! Listens to the network, and has each chat's updates dealt with in their turn.

use crate::bell::Bell;
use crate::bot::{Bot, Course, Late};
use crate::channel::{Channel, ChannelFault};
use crate::policy::Policy;
use crate::send::chats_of;
use crate::settings::Settings;
use crate::status::{Health, Status};
use crate::store::StoreFault;
use crate::thread::{backoff, note, spawn};
use crate::time;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{self, Sender as Queue};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The network holds a request back for so long until something happens.
const POLL: Duration = Duration::from_secs(50);
/// And for so long while something is wrong, so that people are soon told when it is over.
const POLL_IN_TROUBLE: Duration = Duration::from_secs(1);
/// A server that holds nothing back, whatever it is told, is asked this often.
const HASTE: Duration = Duration::from_secs(1);
/// What is older after an outage is not carried out by itself.
const LATE_MS: i64 = 10 * 60 * 1000;
/// Before a token is tried again that is not valid.
const TOKEN_PAUSE: Duration = Duration::from_secs(60);
/// How often it is looked in a pause whether there is another configuration: in the one above every second, and in a
/// ban of hours not all the time.
const LOOKS: u32 = 60;

/// Two processes that ask for the same updates meet again within so long: each waits for six seconds at most.
const CONFLICT_AGAIN: Duration = Duration::from_secs(60);
/// Before people are told of another process again.
const CONFLICT_TOLD: Duration = Duration::from_secs(3600);
/// What helps where something cannot be written down.
const DISK: &str = "it goes on by itself once the disk takes it";

/// Set in the surroundings of a process that was another one before: it does not end for what may be well again.
pub const ANEW: &str = "GLIS_CHAT_ANEW";

/// How a run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The configuration, the token, a group's number or `chat.db` is another one: the process is to begin anew.
    Anew,
}

/// The one who listens.
pub(crate) struct Listener<'b> {
    bot: &'b Arc<Bot>,
    channel: &'b dyn Channel,
    status: &'b Status,
    settings: &'b Settings,
    turns: Turns<'b>,
    /// Who was let in when the network last answered.
    policy: Arc<Policy>,
    /// When the network last answered.
    last_good: Option<Duration>,
    /// When another process was last met that asks for the same updates, and when people were told so.
    conflict_at: Option<Duration>,
    conflict_told_at: Option<Duration>,
    strikes: usize,
    /// For how long the network is to hold the next request back.
    patience: Duration,
}

impl<'b> Listener<'b> {
    pub(crate) fn new(
        bot: &'b Arc<Bot>,
        channel: &'b dyn Channel,
        status: &'b Status,
        settings: &'b Settings,
    ) -> Self {
        let turns = Turns { bot, waiting: VecDeque::new(), queues: BTreeMap::new() };
        let (policy, last_good, strikes) = (settings.lists().now, None, 0);
        let (conflict_at, conflict_told_at) = (None, None);
        Self {
            bot,
            channel,
            status,
            settings,
            turns,
            policy,
            last_good,
            conflict_at,
            conflict_told_at,
            strikes,
            patience: POLL_IN_TROUBLE,
        }
    }

    /// Listens for as long as the bot is what the configuration says. What comes and cannot be written down comes
    /// again: the network is not told that it has come.
    pub(crate) fn listen(mut self, heard: &Mutex<Vec<i64>>, bell: &Bell) -> Ended {
        let mut is_begun = false;
        loop {
            let listened = if is_begun {
                self.listen_once(heard, bell)
            } else {
                self.take_up().map(|()| None)
            };
            is_begun |= listened.is_ok();
            match listened {
                Ok(None) => {}
                Ok(Some(ended)) => return ended,
                Err(fault) => {
                    let pause = Duration::from_secs(backoff(self.strikes));
                    self.rest(&Health::trouble(&fault.to_string(), DISK), pause);
                    if fault.is_damage() {
                        self.bot.fall_silent(true);
                        return Ended::Anew;
                    }
                }
            }
        }
    }

    /// What an earlier process has left.
    fn take_up(&mut self) -> Result<(), StoreFault> {
        let undone = self.bot.store().look().undone()?;
        self.turns.waiting.extend(undone.into_iter().map(|it| it.id));
        Ok(())
    }

    /// Asks the network once. What the configuration says by then counts for what has come.
    fn listen_once(
        &mut self,
        heard: &Mutex<Vec<i64>>,
        bell: &Bell,
    ) -> Result<Option<Ended>, StoreFault> {
        if self.settings.has_other_lists() {
            self.bot.forget_strangers()?;
            self.settings.heed_lists();
        }
        self.turns.hand_out()?;
        let offset = self.bot.offset()?;
        let asked = time::passed();
        let answer = self.channel.updates(offset, self.patience);
        if let Some(ended) = self.begin_anew()? {
            return Ok(Some(ended));
        }
        let policy = self.settings.lists().now;
        if policy != self.policy {
            self.policy = policy;
            // What was held back may go now.
            bell.ring();
        }
        match answer {
            Ok(updates) => {
                self.take_in(&updates)?;
                if !updates.is_empty() {
                    let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                    heard.extend(chats_of(&updates));
                    drop(heard);
                    bell.ring();
                }
                // What has come may be about a group that has another number by now.
                if self.bot.wants_anew()
                    && let Some(ended) = self.begin_anew()?
                {
                    return Ok(Some(ended));
                }
                self.turns.hand_out()?;
                if updates.is_empty() {
                    time::sleep(HASTE.saturating_sub(time::passed().saturating_sub(asked)));
                }
            }
            Err(fault) => {
                let pause = match &fault {
                    ChannelFault::TooMany(secs) => Duration::from_secs(*secs),
                    ChannelFault::Conflict => {
                        self.note_conflict()?;
                        jittered(Duration::from_secs(3))
                    }
                    ChannelFault::Unauthorized | ChannelFault::Unknown => TOKEN_PAUSE,
                    ChannelFault::Unreachable(_)
                    | ChannelFault::Server(_)
                    | ChannelFault::Refused(_)
                    | ChannelFault::Moved(_)
                    | ChannelFault::TopicGone
                    | ChannelFault::Blocked => Duration::from_secs(backoff(self.strikes)),
                };
                self.rest(&Health::of(&fault), pause);
                // Beside another process a short request is answered now and then, and nothing is well by that.
                if fault == ChannelFault::Conflict {
                    self.patience = POLL;
                }
            }
        }
        Ok(None)
    }

    /// Another process may have been ended just now and not be known to be. One that is met again is told of, since
    /// it takes a part of what people say.
    fn note_conflict(&mut self) -> Result<(), StoreFault> {
        let now = time::passed();
        let since = |at: Option<Duration>| at.map(|at| now.saturating_sub(at));
        let again = since(self.conflict_at.replace(now)).is_some_and(|time| time < CONFLICT_AGAIN);
        if again && since(self.conflict_told_at).is_none_or(|time| time > CONFLICT_TOLD) {
            self.bot.tell_of_another()?;
            self.conflict_told_at = Some(now);
        }
        Ok(())
    }

    /// Whether the process is to begin anew, which it does only if it can. What is known is in its file by then.
    fn begin_anew(&self) -> Result<Option<Ended>, StoreFault> {
        let has_its_file = self.bot.store().has_its_file();
        let wants = self.settings.wants_anew() || self.bot.wants_anew() || !has_its_file;
        if !wants || !self.settings.can_begin() {
            return Ok(None);
        }
        // What is on its way when the process goes would be sent twice.
        self.bot.fall_silent(true);
        let written = self.bot.store().write_again();
        if let Err(fault) = written {
            self.bot.fall_silent(false);
            return Err(fault);
        }
        note(
            "the configuration, the token, a group's number or chat.db is another one; beginning anew",
        );
        Ok(Some(Ended::Anew))
    }

    fn take_in(&mut self, updates: &[Value]) -> Result<(), StoreFault> {
        let now = time::passed();
        let long = Duration::from_millis(LATE_MS.unsigned_abs());
        let was_away = self.last_good.is_none_or(|at| now.saturating_sub(at) > long);
        let late = if was_away { Late::After(LATE_MS) } else { Late::Never };
        let fresh = self.bot.take_in(updates, late)?;
        self.last_good = Some(now);
        self.strikes = 0;
        let name = self.bot.name();
        let (health, patience) = match self.settings.trouble() {
            Some(trouble) => (Health::troubled(name, &trouble), POLL_IN_TROUBLE),
            None => (Health::good(name), POLL),
        };
        self.status.tell(&health);
        self.patience = patience;
        self.turns.waiting.extend(fresh);
        Ok(())
    }

    /// Something is wrong: it is told, and tried again; at once if the configuration or the token is another one.
    fn rest(&mut self, health: &Health, pause: Duration) {
        self.strikes += 1;
        self.patience = POLL_IN_TROUBLE;
        self.status.tell(health);
        let why = health.trouble.as_deref().unwrap_or_default();
        note(&format!("{why}; again in {} s", pause.as_secs()));
        let (until, look) = (time::passed() + pause, HASTE.max(pause / LOOKS));
        while time::passed() < until && !self.settings.wants_anew() {
            time::sleep(look.min(until.saturating_sub(time::passed())));
        }
    }
}

/// Between one and two times as long: two processes that meet again and again stop meeting.
fn jittered(pause: Duration) -> Duration {
    let share = u32::from(uuid::Uuid::new_v4().as_bytes()[0]);
    pause + pause * share / 256
}

/// Who deals with what: what comes from one chat is dealt with in turn, what may take long beside it, and of that
/// what is pressed for one session in turn again.
struct Turns<'b> {
    bot: &'b Arc<Bot>,
    /// Those that are written down and in nobody's hands: the network does not bring them again.
    waiting: VecDeque<i64>,
    queues: BTreeMap<Line, Queue<Job>>,
}

/// What is dealt with one after the other.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    /// What comes from a chat.
    Chat(i64),
    /// What is pressed for a session.
    Session(String),
}

impl Turns<'_> {
    fn hand_out(&mut self) -> Result<(), StoreFault> {
        while let Some(update) = self.waiting.front().copied() {
            match self.bot.course(update)? {
                Some(Course::InTurn(chat)) => self.queue(Line::Chat(chat), Job::Do(update)),
                Some(Course::AsideInTurn(chat)) => {
                    self.queue(Line::Chat(chat), Job::Begin(update));
                }
                Some(Course::AsideFor(session)) => {
                    self.queue(Line::Session(session), Job::Do(update));
                }
                Some(Course::Aside) => do_aside(self.bot, update),
                None => {}
            }
            self.waiting.pop_front();
        }
        Ok(())
    }

    fn queue(&mut self, line: Line, job: Job) {
        let bot = self.bot;
        let queue = self.queues.entry(line).or_insert_with(|| turn(bot));
        if queue.send(job).is_err() {
            // A fault of ours has ended the thread; the next one goes on.
            let fresh = turn(bot);
            let _ = fresh.send(job);
            *queue = fresh;
        }
    }
}

/// What is done in a chat's turn with an update.
#[derive(Clone, Copy)]
enum Job {
    /// All of it.
    Do(i64),
    /// It is settled which session it is for; the rest may take long.
    Begin(i64),
}

/// A thread that deals with the updates of one line, one after the other.
fn turn(bot: &Arc<Bot>) -> Queue<Job> {
    let (queue, jobs) = mpsc::channel();
    let bot = Arc::clone(bot);
    let work = move || {
        for job in jobs {
            match job {
                Job::Do(update) => until_done(&bot, || bot.deal_with(update)),
                Job::Begin(update) => {
                    until_done(&bot, || bot.settle_meaning(update));
                    do_aside(&bot, update);
                }
            }
        }
    };
    drop(spawn("chat", work));
    queue
}

fn do_aside(bot: &Arc<Bot>, update: i64) {
    let bot = Arc::clone(bot);
    drop(spawn("call", move || until_done(&bot, || bot.deal_with(update))));
}

/// What cannot be written down now, because the disk is full or busy, is tried again until it can.
fn until_done(bot: &Bot, act: impl Fn() -> Result<(), StoreFault>) {
    for strikes in 0.. {
        let Err(fault) = act() else { return };
        bot.note(&fault);
        time::sleep(Duration::from_secs(backoff(strikes)));
    }
}
