//! The process: one thread listens to the network, one to the house, one looks at agents at work; each chat has its
//! own turn, and a thread that sends to it.

use crate::bot::{Bot, BotFault, Setup};
use crate::channel::{Channel, ChannelFault, Me};
use crate::command::COMMANDS;
use crate::desk::Daemon;
use crate::inbox::Inbox;
use crate::listen::{ANEW, Listener};
use crate::outbox::Pace;
use crate::send::{Sender, Step};
use crate::settings::Settings;
use crate::status::{Health, Status};
use crate::store::Store;
use crate::telegram::Telegram;
use crate::thread::{backoff, failed, note, spawn};
use crate::time;
use crate::voice::Voice;
use crate::wakeup::{Wakeup, Wakeups, sleep};
use glis_client::{Connector, Subscription};
use glis_config::TelegramConfig;
use glis_verbs::Complaint;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
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
    pub connector: Connector,
    /// Gives back what this process has and does not need while it sleeps.
    pub give_back_memory: fn(),
    /// Waits for a signal that wants the process to end; its number, and none if it cannot be waited for.
    pub await_end: fn() -> Option<u8>,
}

/// Runs the bot until the process is ended, which may be at any moment. It returns a fault if it cannot begin, and
/// none if it is to begin anew; then nothing more is sent.
pub fn run(start: Start) -> Result<(), Complaint> {
    let Start { mut connector, give_back_memory, await_end } = start;
    let begun = Arc::new(OnceLock::new());
    let own = Arc::clone(&begun);
    spawn("signals", move || end_by_signal(await_end, &own))?;
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    let settings = Arc::new(Settings::open(connector.home.config_file(), credentials)?);
    let (config, token) = settings.begun().clone();
    let state = connector.home.state.clone();
    let status = Status::take(&state).map_err(|fault| {
        failed(fault.to_string(), "one bot serves one house; `glis doctor` has more")
    })?;
    let channel: Arc<dyn Channel> = Arc::new(Telegram::new(&config.api_url, token));
    let Some(me) = introduce(&*channel, &status, &settings)? else { return Ok(()) };
    // What the daemon is started with comes to agents: what is the bot's own is none of theirs.
    for own in ["CREDENTIALS_DIRECTORY", ANEW] {
        connector.starter.env.push((own.to_owned(), String::new()));
    }
    let store = Store::open(&state).map_err(|fault| {
        failed(fault.to_string(), "nothing was changed; `glis doctor` looks at the disk")
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
    let wakeups = Arc::new(Wakeups::default());
    let woken = Arc::clone(&wakeups);
    let listed = Arc::clone(&settings);
    let its = Setup {
        desk: Box::new(Daemon::new(connector.clone())),
        channel: Arc::clone(&channel),
        inbox,
        voice: Voice::new(&config.voice_command),
        policy: Box::new(move || listed.policy()),
        me,
        topics: config.topics,
        repo,
        repos,
        clock: time::wall_ms,
        passed: time::passed_ms,
        rest: sleep,
        wake: Box::new(move || woken.wake()),
    };
    let begin = |bot: Bot| bot.begin().map(|()| Arc::new(bot));
    let bot = Bot::new(store, its).and_then(begin);
    let bot = bot.map_err(|fault| failed(fault.to_string(), "is the disk full?"))?;
    drop(begun.set(Arc::clone(&bot)));
    let commands: Vec<(&str, &str)> = COMMANDS.iter().map(|it| (it.verb, it.about)).collect();
    if let Err(fault) = channel.announce(&commands) {
        note(&format!("the list of commands is not told: {fault}"));
    }
    let (own, net, all) = (Arc::clone(&bot), Arc::clone(&channel), Arc::clone(&wakeups));
    spawn("send", move || serve(&own, &net, &all, give_back_memory))?;
    let own = Arc::clone(&bot);
    spawn("events", move || follow(&own, &connector))?;
    let own = Arc::clone(&bot);
    spawn("watch", move || watch(&own))?;
    note("ready");
    Listener::new(&bot, &*channel, &status, &settings).listen(&wakeups);
    Ok(())
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
            bot.fall_silent();
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
) -> Result<Option<Me>, Complaint> {
    let mut strikes = 0;
    loop {
        match channel.introduce() {
            Ok(me) => return Ok(Some(me)),
            Err(_) if settings.wants_anew() => return Ok(None),
            Err(fault @ ChannelFault::Unauthorized) => {
                status.tell(&Health::of(&fault));
                return Err(failed("the network does not know this token", fault.remedy()));
            }
            Err(fault) => {
                let told = if let ChannelFault::TooMany(secs) = fault { Some(secs) } else { None };
                let pause = told.unwrap_or_else(|| backoff(strikes));
                strikes += 1;
                status.tell(&Health::of(&fault));
                note(&format!("{fault}; again in {pause} s"));
                sleep(Duration::from_secs(pause));
            }
        }
    }
}

/// Has a sender for each chat that there is something for.
fn serve(
    bot: &Arc<Bot>,
    channel: &Arc<dyn Channel>,
    wakeups: &Arc<Wakeups>,
    give_back_memory: fn(),
) {
    let (pace, wakeup) = (Arc::default(), wakeups.add());
    let mut served = BTreeSet::new();
    loop {
        let chats = bot.chats_to_serve().unwrap_or_else(|fault| {
            bot.note(&fault.into());
            sleep(HOUSE_PAUSE);
            // Looked for again.
            wakeup.wake();
            BTreeSet::new()
        });
        for chat in chats.difference(&served.clone()).copied() {
            let (bot, channel, pace) = (Arc::clone(bot), Arc::clone(channel), Arc::clone(&pace));
            let own = wakeups.add();
            let work = move || {
                send((&bot, &*channel), (chat, &pace), &own, give_back_memory);
            };
            if spawn(&format!("send {chat}"), work).is_ok() {
                served.insert(chat);
            }
        }
        wakeup.wait(None);
    }
}

/// Sends to a chat for as long as the process lives. It lives for weeks and works in bursts: what a burst has freed
/// would stay with the allocator, and what it has run of the program would stay mapped.
fn send(
    to: (&Bot, &dyn Channel),
    chat: (i64, &Arc<Mutex<Pace>>),
    wakeup: &Wakeup,
    give_back_memory: fn(),
) {
    let mut sender = None;
    loop {
        let stepped = match &mut sender {
            Some(sender) => Sender::step(sender),
            None => Sender::new(to, chat).map(|fresh| {
                sender = Some(fresh);
                Step::Again
            }),
        };
        match stepped {
            Ok(Step::Again) => {}
            Ok(Step::Wait(ms)) => wakeup.wait(Some(Duration::from_millis(ms.max(1)))),
            Ok(Step::Idle) => {
                if !wakeup.wait_really(Some(SILENCE)) {
                    give_back_memory();
                    wakeup.wait(None);
                }
            }
            Err(fault) => {
                to.0.note(&fault.into());
                sleep(HOUSE_PAUSE);
            }
        }
    }
}

/// Looks at what agents do for as long as they do it.
fn watch(bot: &Bot) {
    loop {
        bot.await_work(LOOK_PACE);
        // A daemon that is away is there again in a moment, and the next look sees what this one would have.
        drop(bot.look_on());
    }
}

/// Follows the house for as long as the process lives.
fn follow(bot: &Bot, connector: &Connector) {
    loop {
        let Err(fault) = follow_once(bot, connector);
        bot.note(&fault);
        sleep(HOUSE_PAUSE);
    }
}

/// Until something goes wrong: what was not dealt with comes again.
fn follow_once(bot: &Bot, connector: &Connector) -> Result<Infallible, BotFault> {
    let mut position = bot.position()?;
    bot.catch_up()?;
    let log_id = Some(position.log_id.clone());
    let mut events = Subscription::new(connector.clone(), log_id, position.next);
    loop {
        let news = events.next()?;
        if let glis_client::News::Anew { log_id } = &news {
            position.log_id.clone_from(log_id);
        }
        bot.take_news(&position.log_id, &news)?;
    }
}
