//! The seam to a network: what a bot needs of one, and what can go wrong. Limits are data.

use crate::outbox::Key;
use crate::policy::Place;
use crate::text::Text;
use serde_json::Value;
use std::time::Duration;

/// Who a bot is on its network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Me {
    /// Its number, which no other bot has.
    pub number: i64,
    /// Its name.
    pub name: String,
}

/// What a network takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Units of a message.
    pub post_units: usize,
    /// Units below a file.
    pub caption_units: usize,
    /// Bytes of a file that it gives out.
    pub file_bytes: u64,
}

/// Why a request came to nothing. No address and no token is ever in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChannelFault {
    /// Not before so many seconds.
    #[error("too many requests; retry after {0} s")]
    TooMany(u64),
    /// No answer, or none that makes sense.
    #[error("the network cannot be reached: {0}")]
    Unreachable(String),
    /// The network has a fault of its own.
    #[error("the network has a fault: {0}")]
    Server(String),
    /// It does not take this.
    #[error("the network refuses: {0}")]
    Refused(String),
    /// The group has this number now.
    #[error("the group has another number: {0}")]
    Moved(i64),
    /// The topic is not there any more.
    #[error("the topic is gone")]
    TopicGone,
    /// The bot was shut out of the chat.
    #[error("the bot is shut out of the chat")]
    Blocked,
    /// The token is not valid, or not any more.
    #[error("the token is not valid")]
    Unauthorized,
    /// Another process asks for the updates of the same bot.
    #[error("another process reads this bot's messages")]
    Conflict,
    /// It does not know what was asked for.
    #[error("the network does not know this")]
    Unknown,
}

impl ChannelFault {
    /// What helps a bot that cannot go on for it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Unauthorized => "ask @BotFather for a new token and put it into `token_file`",
            Self::Conflict => "one bot per token: stop the other, or give it a bot of its own",
            Self::Unknown => "is `api_url` the address of a Bot API?",
            Self::TooMany(_)
            | Self::Unreachable(_)
            | Self::Server(_)
            | Self::Refused(_)
            | Self::Moved(_)
            | Self::TopicGone
            | Self::Blocked => "its messages wait and are sent when this is over",
        }
    }
}

/// A network that a bot talks on. Each call is one request.
pub trait Channel: Send + Sync {
    /// What it takes.
    fn limits(&self) -> Limits;
    /// Who the bot is there.
    fn introduce(&self) -> Result<Me, ChannelFault>;
    /// Tells which commands there are.
    fn announce(&self, commands: &[(&str, &str)]) -> Result<(), ChannelFault>;
    /// What has come from `offset` on; waits so long for something. Those before it are forgotten there. Without
    /// one, everything that was not forgotten yet.
    fn updates(&self, offset: Option<i64>, wait: Duration) -> Result<Vec<Value>, ChannelFault>;
    /// A message. Its number.
    fn post(&self, to: Place, text: &Text, keys: &[Vec<Key>]) -> Result<i64, ChannelFault>;
    /// A picture of something unfinished, which goes by itself.
    fn draft(&self, to: Place, number: i64, text: &Text) -> Result<(), ChannelFault>;
    /// A message that shows something unfinished and rings nowhere. Its number.
    fn preview(&self, to: Place, text: &Text) -> Result<i64, ChannelFault>;
    /// Takes a message away. One that is gone already is no fault.
    fn delete(&self, chat: i64, message: i64) -> Result<(), ChannelFault>;
    /// Other words for a message, and no buttons.
    fn edit(&self, chat: i64, message: i64, text: &Text) -> Result<(), ChannelFault>;
    /// A message has no buttons any more.
    fn take_buttons(&self, chat: i64, message: i64) -> Result<(), ChannelFault>;
    /// A text file. Its message's number.
    fn file(
        &self,
        to: Place,
        name: &str,
        content: &str,
        caption: &str,
    ) -> Result<i64, ChannelFault>;
    /// A topic of its own for a session. Its number.
    fn thread(&self, chat: i64, name: &str) -> Result<i64, ChannelFault>;
    /// Nobody writes in a topic any more.
    fn close_thread(&self, chat: i64, thread: i64) -> Result<(), ChannelFault>;
    /// A press is known.
    fn ack(&self, query: &str, words: &str) -> Result<(), ChannelFault>;
    /// The bytes of a file that a user has sent.
    fn fetch(&self, file: &str) -> Result<Vec<u8>, ChannelFault>;
}
