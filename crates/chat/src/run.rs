//! The process: one thread listens to the network, one to the house, one looks at agents at work, one sends; each
//! chat has its own turn.

use crate::bell::Bell;
use crate::bot::{Bot, Setup, Untold};
use crate::channel::{Channel, ChannelFault, Me};
use crate::command::COMMANDS;
use crate::desk::Daemon;
use crate::inbox::Inbox;
use crate::listen::{ANEW, Ended, Listener};
use crate::send::{Sender, Step};
use crate::settings::Settings;
use crate::status::{Health, Status};
use crate::store::Store;
use crate::telegram::Telegram;
use crate::thread::{backoff, note, spawn};
use crate::time;
use crate::told::Told;
use crate::voice::Voice;
use glis_client::{Connector, Fault, Subscription};
use glis_config::TelegramConfig;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

/// Between two looks at agents that speak.
const LOOK_PACE: Duration = Duration::from_millis(750);
/// After so long with nothing to send, memory is given back.
const SILENCE: Duration = Duration::from_secs(3);
/// So long a request that is under way may take when the process is to end: a person waits for it.
const LAST_REQUEST: Duration = Duration::from_secs(5);
/// Before the daemon is tried again.
const HOUSE_PAUSE: Duration = Duration::from_secs(1);

/// What the process is handed.
pub struct Start {
    /// The way to the daemon.
    pub connector: Connector,
    /// The words for a fault.
    pub explain: fn(Fault) -> Told,
    /// Gives back what this process has and does not need while it sleeps.
    pub give_back_memory: fn(),
    /// Waits for a signal that wants the process to end; its number, and none if it cannot be waited for.
    pub await_end: fn() -> Option<u8>,
}

/// Runs the bot until the process is ended, which may be at any moment. It returns if it cannot begin, or is to begin
/// anew; then nothing more is sent.
pub fn run(start: Start) -> Result<Ended, Told> {
    let Start { mut connector, explain, give_back_memory, await_end } = start;
    let begun = Arc::new(OnceLock::new());
    let own = Arc::clone(&begun);
    spawn("signals", move || end_by_signal(await_end, &own))?;
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    let settings = Arc::new(Settings::open(connector.home.config_file(), credentials)?);
    let (config, token) = settings.begun().clone();
    let state = connector.home.state.clone();
    let status = Status::take(&state).map_err(|fault| {
        Told::new(&fault.to_string(), "one bot serves one house; `glis doctor` has more")
    })?;
    let channel: Arc<dyn Channel> = Arc::new(Telegram::new(&config.api_url, token));
    let Some(me) = introduce(&*channel, &status, &settings)? else { return Ok(Ended::Anew) };
    // What the daemon is started with comes to agents: what is the bot's own is none of theirs.
    for own in ["CREDENTIALS_DIRECTORY", ANEW] {
        connector.starter.env.push((own.to_owned(), String::new()));
    }
    let store = Store::open(&state).map_err(|fault| {
        Told::new(&fault.to_string(), "nothing was changed; `glis doctor` looks at the disk")
    })?;
    if let Ok(Some(aside)) = store.put_aside() {
        note(&format!("chat.db is damaged; it is kept as {aside}, and a new one is begun"));
    }
    let inbox = Inbox::new(&state);
    let undone: Vec<i64> =
        store.look().undone().unwrap_or_default().iter().map(|it| it.id).collect();
    if let Err(fault) = inbox.keep_only(&undone) {
        note(&format!("files of an earlier process stay: {fault}"));
    }
    let (repo, repos) = repositories(&config);
    let bell = Arc::new(Bell::default());
    let rung = Arc::clone(&bell);
    let lists = Arc::clone(&settings);
    let bot = Bot::new(Setup {
        store,
        desk: Box::new(Daemon::new(connector.clone())),
        channel: Arc::clone(&channel),
        inbox,
        voice: Voice::new(&config.voice_command),
        lists: Box::new(move || lists.lists()),
        me,
        topics: config.topics,
        repo,
        repos,
        explain,
        clock: time::wall_ms,
        rest: time::sleep,
        ring: Box::new(move || rung.ring()),
    });
    let bot = Arc::new(bot.map_err(|fault| Told::new(&fault.to_string(), "is the disk full?"))?);
    bot.begin().map_err(|fault| Told::new(&fault.to_string(), "is the disk full?"))?;
    drop(begun.set(Arc::clone(&bot)));
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
    Ok(Listener::new(&bot, &*channel, &status, &settings).listen(&heard, &bell))
}

/// Where sessions are made: by itself, and by name. What is not there is told at once.
fn repositories(config: &TelegramConfig) -> (Option<String>, BTreeMap<String, String>) {
    let path = |path: &String| crate::home::text(&crate::home::expand(path));
    let repo = config.repo.as_ref().map(path);
    let repos: BTreeMap<String, String> =
        config.repos.iter().map(|(name, at)| (name.clone(), path(at))).collect();
    for missing in repo.iter().chain(repos.values()).filter(|at| !Path::new(at).is_dir()) {
        note(&format!("there is no folder {missing}: nothing can be made there until there is"));
    }
    (repo, repos)
}

/// Ends the process in order when a signal asks for that. What is being sent is sent, so that it is not sent again;
/// everything else is written down.
#[expect(clippy::exit, reason = "the other threads wait for a network that takes its time")]
fn end_by_signal(await_end: fn() -> Option<u8>, begun: &OnceLock<Arc<Bot>>) {
    // Without it we end as any program does, which loses nothing either.
    let Some(signal) = await_end() else { return };
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        _ => "SIGTERM",
    };
    note(&format!("Received exit signal {name}"));
    if let Some(bot) = begun.get().cloned() {
        let (silent, is_silent) = mpsc::channel();
        let fall_silent = move || {
            bot.fall_silent(true);
            let _ = silent.send(());
        };
        drop(spawn("silence", fall_silent));
        if is_silent.recv_timeout(LAST_REQUEST).is_err() {
            note("the network has not answered; what was being sent may come twice");
        }
    }
    note("ended; what waits to be sent is kept for the next start, and the agents run on");
    std::process::exit(0)
}

/// Who the bot is. Without network it is waited for, as long as it is the one that is to be asked; a wrong token is told
/// at once.
fn introduce(
    channel: &dyn Channel,
    status: &Status,
    settings: &Settings,
) -> Result<Option<Me>, Told> {
    let mut strikes = 0;
    loop {
        match channel.introduce() {
            Ok(me) => return Ok(Some(me)),
            Err(_) if settings.wants_anew() => return Ok(None),
            Err(fault @ ChannelFault::Unauthorized) => {
                status.tell(&Health::of(&fault));
                return Err(Told::new("the network does not know this token", fault.remedy()));
            }
            Err(fault) => {
                let told = if let ChannelFault::TooMany(secs) = fault { Some(secs) } else { None };
                let pause = told.unwrap_or_else(|| backoff(strikes));
                strikes += 1;
                status.tell(&Health::of(&fault));
                note(&format!("{fault}; again in {pause} s"));
                time::sleep(Duration::from_secs(pause));
            }
        }
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
                bot.note(&fault);
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
                bot.note(&fault);
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
        match follow_once(bot, connector) {
            Untold::Store(fault) => bot.note(&fault),
            Untold::House(fault) => note(&fault.to_string()),
        }
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
