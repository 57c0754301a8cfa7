//! Listens to the network, and has each chat's updates dealt with in their turn.

use crate::bot::{Bot, BotFault, Course, Fresh, Late, Line};
use crate::channel::{Channel, ChannelFault};
use crate::policy::Policy;
use crate::settings::Settings;
use crate::status::{Health, Status};
use crate::store::StoreFault;
use crate::text::Text;
use crate::thread::{backoff, note, spawn};
use crate::time;
use crate::wakeup::{Wakeups, sleep};
use crate::words;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender as Queue};
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
        let (policy, last_good, strikes) = (settings.policy(), None, 0);
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
    pub(crate) fn listen(mut self, wakeups: &Wakeups) {
        let mut is_begun = false;
        loop {
            let listened = if is_begun {
                self.listen_once(wakeups)
            } else {
                self.take_up().map(|()| ControlFlow::Continue(()))
            };
            is_begun |= listened.is_ok();
            match listened {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return,
                Err(fault) => {
                    let pause = Duration::from_secs(backoff(self.strikes));
                    self.rest(&Health::trouble(&fault.to_string(), DISK), pause);
                    if fault.is_damage() {
                        self.bot.fall_silent();
                        return;
                    }
                }
            }
        }
    }

    /// What an earlier process has left.
    fn take_up(&mut self) -> Result<(), StoreFault> {
        let undone = self.bot.undone()?;
        self.turns.waiting.extend(undone);
        Ok(())
    }

    /// Asks the network once; breaks off if the process is to begin anew. What the configuration says by then counts for
    /// what has come.
    fn listen_once(&mut self, wakeups: &Wakeups) -> Result<ControlFlow<()>, StoreFault> {
        self.turns.hand_out()?;
        let offset = self.bot.offset()?;
        let asked = time::passed();
        let answer = self.channel.updates(offset, self.patience);
        if self.begins_anew() {
            return Ok(ControlFlow::Break(()));
        }
        let policy = self.settings.policy();
        if policy != self.policy {
            self.policy = policy;
            // What was held back may go now.
            wakeups.wake();
        }
        match answer {
            Ok(updates) => {
                self.take_in(&updates)?;
                self.turns.hand_out()?;
                if updates.is_empty() {
                    sleep(HASTE.saturating_sub(time::passed().saturating_sub(asked)));
                }
            }
            Err(fault) => {
                let is_conflict = fault == ChannelFault::Conflict;
                let pause = if let ChannelFault::TooMany(secs) = fault {
                    Duration::from_secs(secs)
                } else if is_conflict {
                    self.note_conflict()?;
                    jittered(Duration::from_secs(3))
                } else if matches!(fault, ChannelFault::Unauthorized | ChannelFault::Unknown) {
                    TOKEN_PAUSE
                } else {
                    Duration::from_secs(backoff(self.strikes))
                };
                self.rest(&Health::of(&fault), pause);
                // Beside another process a short request is answered now and then, and nothing is well by that.
                if is_conflict {
                    self.patience = POLL;
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Another process may have been ended just now and not be known to be. One that is met again is told of, since
    /// it takes a part of what people say.
    fn note_conflict(&mut self) -> Result<(), StoreFault> {
        let now = time::passed();
        let since = |at: Option<Duration>| at.map(|at| now.saturating_sub(at));
        let again = since(self.conflict_at.replace(now)).is_some_and(|time| time < CONFLICT_AGAIN);
        if again && since(self.conflict_told_at).is_none_or(|time| time > CONFLICT_TOLD) {
            self.bot.tell_everywhere(&Text::plain(words::ANOTHER_READS))?;
            self.conflict_told_at = Some(now);
        }
        Ok(())
    }

    /// Whether the process is to begin anew, which it does only if it can. What is known is in its file by then.
    fn begins_anew(&self) -> bool {
        let wants = self.settings.wants_anew() || self.bot.wants_anew();
        if !wants || !self.settings.can_begin() {
            return false;
        }
        // What is on its way when the process goes would be sent twice.
        self.bot.fall_silent();
        note(
            "the configuration or the token is another one, or chat.db is damaged; beginning anew",
        );
        true
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
            sleep(look.min(until.saturating_sub(time::passed())));
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
    waiting: VecDeque<Fresh>,
    queues: BTreeMap<Line, Queue<Job>>,
}

impl Turns<'_> {
    fn hand_out(&mut self) -> Result<(), StoreFault> {
        while let Some(fresh) = self.waiting.front() {
            let course = self.bot.course(fresh)?;
            let Some(fresh) = self.waiting.pop_front() else { break };
            match course {
                Some(Course::InTurn(line)) => self.queue(line, Job::Do(fresh)),
                Some(Course::AsideInTurn(chat)) => self.queue(Line::Chat(chat), Job::Begin(fresh)),
                Some(Course::Aside) => do_aside(self.bot, fresh),
                None => {}
            }
        }
        Ok(())
    }

    fn queue(&mut self, line: Line, job: Job) {
        let bot = self.bot;
        let queue = self.queues.entry(line).or_insert_with(|| turn(bot));
        if let Err(mpsc::SendError(job)) = queue.send(job) {
            // A fault of ours has ended the thread; the next one goes on.
            let fresh = turn(bot);
            drop(fresh.send(job));
            *queue = fresh;
        }
    }
}

/// What is done in a chat's turn with an update.
enum Job {
    Do(Fresh),
    /// It is settled which session it is for; the rest may take long.
    Begin(Fresh),
}

/// A thread that deals with the updates of one line, one after the other.
fn turn(bot: &Arc<Bot>) -> Queue<Job> {
    let (queue, jobs) = mpsc::channel();
    let bot = Arc::clone(bot);
    let work = move || {
        for job in jobs {
            match job {
                Job::Do(fresh) => until_done(&bot, || bot.deal_with(&fresh)),
                Job::Begin(fresh) => {
                    until_done(&bot, || bot.settle_meaning(&fresh));
                    do_aside(&bot, fresh);
                }
            }
        }
    };
    drop(spawn("chat", work));
    queue
}

fn do_aside(bot: &Arc<Bot>, fresh: Fresh) {
    let bot = Arc::clone(bot);
    drop(spawn("call", move || until_done(&bot, || bot.deal_with(&fresh))));
}

/// What cannot be written down now, because the disk is full or busy, is tried again until it can.
fn until_done(bot: &Bot, act: impl Fn() -> Result<(), BotFault>) {
    for strikes in 0.. {
        let Err(fault) = act() else { return };
        bot.note(&fault);
        sleep(Duration::from_secs(backoff(strikes)));
    }
}
