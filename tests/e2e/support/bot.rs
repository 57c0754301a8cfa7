//! A house with a bot, and the network that it talks on.

use crate::support::held::signal;
use crate::support::house::{Background, House, Outcome};
use glis_bot_api::{BotApi, Message, TOKEN};
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

/// The user who may use the bot, and so the number of their private chat.
pub(crate) const ME: i64 = 7;
/// A user who may not.
pub(crate) const STRANGER: i64 = 666;

/// Who is let in, in the configuration.
const ALLOWED: &str = "allowed_users = [7]\n";

pub(crate) struct BotHouse {
    pub(crate) house: House,
    pub(crate) api: BotApi,
    running: Option<Background>,
}

impl BotHouse {
    /// A house whose bot runs.
    pub(crate) fn new() -> Outcome<Self> {
        let mut bot = Self::still()?;
        bot.start()?;
        Ok(bot)
    }

    /// A house whose bot runs with more in its table of the configuration.
    pub(crate) fn with(more: &str) -> Outcome<Self> {
        let mut bot = Self::set_up(more)?;
        bot.start()?;
        Ok(bot)
    }

    /// A house whose bot does not run yet.
    pub(crate) fn still() -> Outcome<Self> {
        Self::set_up("")
    }

    /// A house whose bot has its sessions in this folder. It does not run yet.
    pub(crate) fn with_repo(folder: &str) -> Outcome<Self> {
        let bot = Self::still()?;
        let (home, here) = (bot.house.home(), bot.house.repo());
        let config = std::fs::read_to_string(home.join("config.toml"))?;
        bot.house.configure(&config.replace(&*here.to_string_lossy(), folder))?;
        Ok(bot)
    }

    fn set_up(more: &str) -> Outcome<Self> {
        Self::over(House::new()?, "rehearsal", more)
    }

    /// A bot in a house that is there already, whose sessions have this agent. It does not run yet.
    pub(crate) fn over(house: House, agent: &str, more: &str) -> Outcome<Self> {
        let api = BotApi::start()?;
        let bot = Self { house, api, running: None };
        std::fs::write(bot.token(), TOKEN)?;
        std::fs::set_permissions(bot.token(), std::fs::Permissions::from_mode(0o600))?;
        bot.configure(agent, &bot.api.url(), &format!("{ALLOWED}{more}"))?;
        Ok(bot)
    }

    fn token(&self) -> std::path::PathBuf {
        self.house.folder().join("token")
    }

    fn configure(&self, agent: &str, url: &str, more: &str) -> Outcome {
        self.house.configure(&format!(
            "default_agent = \"{agent}\"\n[chat.telegram]\ntoken_file = '{}'\n\
             repo = '{}'\napi_url = '{url}'\n{more}\n",
            self.token().display(),
            self.house.repo().display(),
        ))
    }

    /// Has the bot talk on another network, from its next start on.
    pub(crate) fn talk_on(&self, url: &str) -> Outcome {
        self.configure("rehearsal", url, ALLOWED)
    }

    /// Has these users let in, and nobody else.
    pub(crate) fn let_in(&self, users: &[i64]) -> Outcome {
        self.configure("rehearsal", &self.api.url(), &format!("allowed_users = {users:?}\n"))
    }

    /// Has these users let in, also in a group.
    pub(crate) fn let_in_group(&self, users: &[i64], group: i64) -> Outcome {
        let lists = format!("allowed_users = {users:?}\nallowed_chats = [{group}]\n");
        self.configure("rehearsal", &self.api.url(), &lists)
    }

    pub(crate) fn start(&mut self) -> Outcome {
        let log = std::fs::File::options().create(true).append(true).open(self.log())?;
        let mut command = self.house.glis();
        command.arg("chat").stdout(Stdio::null()).stderr(log);
        self.running = Some(Background(command.spawn()?));
        Ok(())
    }

    /// What the bot writes about itself.
    pub(crate) fn log(&self) -> std::path::PathBuf {
        self.house.folder().join("chat.log")
    }

    /// Kills the bot as a crash would.
    pub(crate) fn kill(&mut self) {
        // It is killed and waited for when it is dropped.
        self.running = None;
    }

    /// Ends the bot by a signal, and waits for its exit status.
    pub(crate) fn end_by(&mut self, with: Signal) -> Outcome<Option<i32>> {
        let mut running = self.running.take().ok_or("the bot does not run")?;
        signal(i32::try_from(running.0.id())?, with)?;
        Ok(running.0.wait()?.code())
    }

    pub(crate) fn pid(&self) -> Outcome<u32> {
        Ok(self.running.as_ref().ok_or("the bot does not run")?.0.id())
    }

    /// The user writes to the bot.
    pub(crate) fn say(&self, text: &str) {
        self.api.say(ME, ME, text);
    }

    /// Waits for a message to the user with these words.
    pub(crate) fn hear(&self, words: &str) -> Outcome<Message> {
        let heard = self.api.await_words(ME, words);
        heard.ok_or_else(|| {
            let all: Vec<String> = self.api.messages().into_iter().map(|it| it.text).collect();
            let log = std::fs::read_to_string(self.log()).unwrap_or_default();
            format!("{words:?} was not said; said was {all:#?}\n--- the bot's log ---\n{log}")
                .into()
        })
    }

    /// Writes something, and waits for what it leads to: a message that was not there before.
    pub(crate) fn ask(&self, text: &str, words: &str) -> Outcome<Message> {
        let before = self.api.messages().last().map_or(0, |message| message.id);
        self.say(text);
        let found = self.api.until(|all| {
            let fresh = all.iter().filter(|it| it.chat == ME && it.id > before);
            fresh.rev().find(|message| message.text.contains(words)).cloned()
        });
        found.map_or_else(|| self.hear(&format!("{words} (anew)")), Ok)
    }

    /// Presses a button.
    pub(crate) fn press(&self, label: &str) -> Outcome {
        self.api.press(ME, ME, label).map(drop).ok_or_else(|| format!("no button {label}").into())
    }

    /// How many messages to the user hold these words.
    pub(crate) fn count(&self, words: &str) -> usize {
        let all = self.api.messages();
        all.iter().filter(|message| message.chat == ME && message.text.contains(words)).count()
    }
}
