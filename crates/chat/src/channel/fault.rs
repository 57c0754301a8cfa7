//! What can go wrong on a network.

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
            _ => "its messages wait and are sent when this is over",
        }
    }
}
