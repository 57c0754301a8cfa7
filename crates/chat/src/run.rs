//! The process: one thread listens to the network, one to the house, one looks at agents at work, one sends; each
//! chat has its own turn.

use crate::bell::Bell;
use crate::bot::{Bot, Course, Late, Setup, Untold};
use crate::channel::{Channel, ChannelFault};
use crate::command::COMMANDS;
use crate::desk::{Daemon, WorkOnPlan};
use crate::inbox::Inbox;
use crate::policy::Policy;
use crate::send::{Sender, Step, chats_of};
use crate::status::{Health, Status};
use crate::store::{Store, StoreFault};
use crate::telegram::{Telegram, read_token};
use crate::time;
use crate::told::Told;
use crate::voice::Voice;
use glis_client::{Connector, Fault, Subscription};
use glis_config::Config;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{self, Sender as Queue};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The network holds a request back for so long until something happens.
const POLL: Duration = Duration::from_secs(50);
/// A server that holds nothing back, whatever it is told, is asked this often.
const HASTE: Duration = Duration::from_secs(1);
/// What is older after an outage is not carried out by itself.
const LATE_MS: i64 = 10 * 60 * 1000;
/// Waiting after faults, by how many there were in a row.
const BACKOFF_SECS: [u64; 6] = [1, 2, 4, 8, 16, 30];
/// Before a token is tried again that is not valid.
const TOKEN_PAUSE: Duration = Duration::from_secs(60);
/// Between two looks at agents that speak.
const LOOK_PACE: Duration = Duration::from_millis(750);
/// After so long with nothing to send, memory is given back.
const SILENCE: Duration = Duration::from_secs(3);
/// Before the daemon is tried again.
const HOUSE_PAUSE: Duration = Duration::from_secs(1);

/// So often an update is tried that cannot be written down.
const STORE_TRIES: u32 = 10;

/// What the process is handed.
pub struct Start {
    /// The way to the daemon.
    pub connector: Connector,
    /// The words for a fault.
    pub explain: fn(Fault) -> Told,
    /// What the command line does with the file of a plan.
    pub work_on_plan: WorkOnPlan,
    /// Gives back what this process has and does not need while it sleeps.
    pub give_back_memory: fn(),
}

/// Runs the bot until the process is ended, which may be at any moment. It returns only if it cannot begin.
pub fn run(start: Start) -> Result<(), Told> {
    let Start { mut connector, explain, work_on_plan, give_back_memory } = start;
    let config = Config::read(&connector.home.config_file());
    let config =
        config.map_err(|fault| wrong(&fault.to_string(), "`glis config check` has more"))?;
    let config = config.chat.telegram;
    let policy = Policy::new(&config.allowed_users, &config.allowed_chats).ok_or_else(|| {
        wrong("no user may use the bot", "set `allowed_users` in [chat.telegram] to your number")
    })?;
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY");
    let file = config.token_file.as_deref().map(crate::home::expand);
    let token = read_token(file.as_deref(), credentials.as_deref().map(Path::new))
        .map_err(|fault| wrong(&fault.to_string(), "README has how to get a token, in a minute"))?;
    let state = connector.home.state.clone();
    let status = Status::take(&state).map_err(|fault| {
        wrong(&fault.to_string(), "one bot serves one house; `glis doctor` has more")
    })?;
    let channel: Arc<dyn Channel> = Arc::new(Telegram::new(&config.api_url, token));
    let name = introduce(&*channel, &status)?;
    // What the daemon is started with comes to agents: the bot's credentials are none of theirs.
    connector.starter.env.push(("CREDENTIALS_DIRECTORY".to_owned(), String::new()));
    let store = Store::open(&state).map_err(|fault| {
        wrong(&fault.to_string(), "nothing was changed; move the file away to begin anew")
    })?;
    let inbox = Inbox::new(&state);
    let undone: Vec<i64> =
        store.look().undone().unwrap_or_default().iter().map(|it| it.id).collect();
    if let Err(fault) = inbox.keep_only(&undone) {
        note(&format!("files of an earlier process stay: {fault}"));
    }
    let bell = Arc::new(Bell::default());
    let rung = Arc::clone(&bell);
    let bot = Arc::new(Bot::new(Setup {
        store,
        desk: Box::new(Daemon::new(connector.clone(), work_on_plan, explain)),
        channel: Arc::clone(&channel),
        inbox,
        voice: Voice::new(&config.voice_command),
        policy,
        name,
        topics: config.topics,
        repo: config.repo.as_deref().map(|path| crate::home::text(&crate::home::expand(path))),
        repos: config
            .repos
            .iter()
            .map(|(name, path)| (name.clone(), crate::home::text(&crate::home::expand(path))))
            .collect(),
        explain,
        clock: time::wall_ms,
        rest: time::sleep,
        ring: Box::new(move || rung.ring()),
    }));
    bot.forget_strangers().map_err(|fault| wrong(&fault.to_string(), "is the disk full?"))?;
    let commands: Vec<(&str, &str)> =
        COMMANDS.iter().map(|(verb, _, about)| (*verb, *about)).collect();
    if let Err(fault) = channel.announce(&commands) {
        note(&format!("the list of commands is not told: {fault}"));
    }
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (own, net, ring, opened) =
        (Arc::clone(&bot), Arc::clone(&channel), Arc::clone(&bell), Arc::clone(&heard));
    spawn("send", move || send((&own, &*net), &ring, &opened, give_back_memory))?;
    let own = Arc::clone(&bot);
    spawn("events", move || follow(&own, &connector))?;
    let own = Arc::clone(&bot);
    spawn("watch", move || watch(&own))?;
    note("ready");
    listen(&bot, &*channel, &status, &heard, &bell)
        .map_err(|fault| wrong(&fault.to_string(), "is the disk full?"))
}

fn wrong(message: &str, hint: &str) -> Told {
    Told { message: message.to_owned(), hint: Some(hint.to_owned()) }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Told> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map(drop).map_err(|fault| wrong(&format!("no thread: {fault}"), "try again"))
}

/// A line of the process's own log. What looks like a secret is taken out, though none should be in it.
pub(crate) fn note(line: &str) {
    let line = crate::text::clean(line);
    drop(writeln!(std::io::stderr().lock(), "chat: {line}"));
}

/// The bot's own name. Without network it is waited for; a wrong token is told at once.
fn introduce(channel: &dyn Channel, status: &Status) -> Result<String, Told> {
    let mut strikes = 0;
    loop {
        match channel.introduce() {
            Ok(name) => return Ok(name),
            Err(ChannelFault::Unauthorized) => {
                status.tell(&Health::trouble("the token is not valid"));
                return Err(wrong(
                    "the network does not know this token",
                    "ask @BotFather for a new one and put it into `token_file`",
                ));
            }
            Err(fault) => {
                let told = if let ChannelFault::TooMany(secs) = fault { Some(secs) } else { None };
                let pause = told.unwrap_or_else(|| backoff(strikes));
                strikes += 1;
                status.tell(&Health::trouble(&fault.to_string()));
                note(&format!("{fault}; again in {pause} s"));
                time::sleep(Duration::from_secs(pause));
            }
        }
    }
}

fn backoff(strikes: usize) -> u64 {
    BACKOFF_SECS.get(strikes).or(BACKOFF_SECS.last()).copied().unwrap_or(30)
}

/// Between one and two times as long: two processes that meet again and again stop meeting.
fn jittered(pause: Duration) -> Duration {
    let share = u32::from(uuid::Uuid::new_v4().as_bytes()[0]);
    pause + pause * share / 256
}

/// Listens to the network. Returns only if what comes cannot be written down.
fn listen(
    bot: &Arc<Bot>,
    channel: &dyn Channel,
    status: &Status,
    heard: &Mutex<Vec<i64>>,
    bell: &Bell,
) -> Result<(), StoreFault> {
    let mut desks = Turns::new(bot);
    let undone: Vec<i64> = bot.store().look().undone()?.into_iter().map(|it| it.id).collect();
    desks.hand_out(&undone)?;
    let mut last_good: Option<Duration> = None;
    let mut strikes = 0;
    loop {
        let offset = bot.store().look().offset()?;
        let asked = time::passed();
        match channel.updates(offset, POLL) {
            Ok(updates) => {
                let now = time::passed();
                let long = Duration::from_millis(LATE_MS.unsigned_abs());
                let was_away = last_good.is_none_or(|at| now.saturating_sub(at) > long);
                let late = if was_away { Late::After(LATE_MS) } else { Late::Never };
                last_good = Some(now);
                strikes = 0;
                status.tell(&Health::good(bot.name()));
                if updates.is_empty() {
                    time::sleep(HASTE.saturating_sub(now.saturating_sub(asked)));
                    continue;
                }
                let fresh = bot.take_in(&updates, late)?;
                heard.lock().unwrap_or_else(PoisonError::into_inner).extend(chats_of(&updates));
                bell.ring();
                desks.hand_out(&fresh)?;
            }
            Err(fault) => {
                let pause = match &fault {
                    ChannelFault::TooMany(secs) => Duration::from_secs(*secs),
                    ChannelFault::Conflict => jittered(Duration::from_secs(3)),
                    ChannelFault::Unauthorized | ChannelFault::Unknown => TOKEN_PAUSE,
                    ChannelFault::Unreachable(_)
                    | ChannelFault::Server(_)
                    | ChannelFault::Refused(_)
                    | ChannelFault::TopicGone
                    | ChannelFault::Blocked => Duration::from_secs(backoff(strikes)),
                };
                strikes += 1;
                status.tell(&Health::trouble(&fault.to_string()));
                note(&format!("{fault}; again in {} s", pause.as_secs()));
                time::sleep(pause);
            }
        }
    }
}

/// Who deals with what: what comes from one chat is dealt with in turn, what may take long beside it.
struct Turns<'b> {
    bot: &'b Arc<Bot>,
    chats: BTreeMap<i64, Queue<i64>>,
}

impl<'b> Turns<'b> {
    fn new(bot: &'b Arc<Bot>) -> Self {
        Self { bot, chats: BTreeMap::new() }
    }

    fn hand_out(&mut self, updates: &[i64]) -> Result<(), StoreFault> {
        for update in updates {
            match self.bot.course(*update)? {
                Some(Course::InTurn(chat)) => {
                    let bot = self.bot;
                    let queue = self.chats.entry(chat).or_insert_with(|| turn(bot));
                    if queue.send(*update).is_err() {
                        // A fault of ours has ended the thread; the next one goes on.
                        let fresh = turn(bot);
                        let _ = fresh.send(*update);
                        *queue = fresh;
                    }
                }
                Some(Course::Aside) => {
                    let (bot, update) = (Arc::clone(self.bot), *update);
                    drop(spawn("call", move || deal_with(&bot, update)));
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// A thread that deals with one chat's updates, one after the other.
fn turn(bot: &Arc<Bot>) -> Queue<i64> {
    let (queue, updates) = mpsc::channel();
    let bot = Arc::clone(bot);
    let work = move || {
        for update in updates {
            deal_with(&bot, update);
        }
    };
    drop(spawn("chat", work));
    queue
}

/// What cannot be written down now, because the disk is full or busy, is tried again; at the latest by the
/// next process.
fn deal_with(bot: &Bot, update: i64) {
    for _ in 0..STORE_TRIES {
        let Err(fault) = bot.deal_with(update) else { return };
        note(&format!("update {update}: {fault}"));
        time::sleep(HOUSE_PAUSE);
    }
}

/// Sends for as long as the process lives. It lives for weeks and works in bursts: what a burst has freed would stay
/// with the allocator, and what it has run of the program would stay mapped.
fn send(
    (bot, channel): (&Bot, &dyn Channel),
    bell: &Bell,
    heard: &Mutex<Vec<i64>>,
    give_back_memory: fn(),
) {
    let mut sender = loop {
        match Sender::new(bot, channel, time::wall_ms, time::passed_ms) {
            Ok(sender) => break sender,
            Err(fault) => {
                note(&fault.to_string());
                time::sleep(HOUSE_PAUSE);
            }
        }
    };
    loop {
        for chat in std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner)) {
            sender.heard_from(chat);
        }
        match sender.step() {
            Ok(Step::Again) => {}
            Ok(Step::Wait(ms)) => bell.wait(Some(Duration::from_millis(ms.max(1)))),
            Ok(Step::Idle) => {
                if !bell.wait_really(Some(SILENCE)) {
                    give_back_memory();
                    bell.wait(None);
                }
            }
            Err(fault) => {
                note(&fault.to_string());
                time::sleep(HOUSE_PAUSE);
            }
        }
    }
}

/// Looks at what agents do for as long as they do it.
fn watch(bot: &Bot) {
    loop {
        let which = bot.await_work(LOOK_PACE);
        // A daemon that is away is there again in a moment, and the next look sees what this one would have.
        drop(bot.look_on(which));
    }
}

/// Follows the house for as long as the process lives.
fn follow(bot: &Bot, connector: &Connector) {
    loop {
        let fault = match follow_once(bot, connector) {
            Untold::Store(fault) => fault.to_string(),
            Untold::House(fault) => fault.to_string(),
        };
        note(&fault);
        time::sleep(HOUSE_PAUSE);
    }
}

/// Until something goes wrong: what was not dealt with comes again.
fn follow_once(bot: &Bot, connector: &Connector) -> Untold {
    let begun = bot.position().and_then(|position| bot.catch_up().map(|()| position));
    let mut position = match begun {
        Ok(position) => position,
        Err(untold) => return untold,
    };
    let log_id = Some(position.log_id.clone());
    let mut events = Subscription::new(connector.clone(), log_id, position.next);
    loop {
        let news = match events.next() {
            Ok(news) => news,
            Err(fault) => return Untold::House(fault),
        };
        if let glis_client::News::Anew { log_id } = &news {
            position.log_id.clone_from(log_id);
        }
        if let Err(untold) = bot.take_news(&position.log_id, &news) {
            return untold;
        }
    }
}
