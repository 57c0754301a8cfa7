//! What rules can judge of something that an agent asks, and what they say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an agent wants to be allowed, where that is one of the things that rules are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// To run a command line in a shell.
    Command {
        line: String,
        /// The folder that it would run in; unknown where the agent does not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// To write these files, as the agent names them.
    Edit { paths: Vec<String> },
}

/// Who is to answer something that an agent asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answerer {
    #[default]
    Person,
    /// The rules, until they leave it to a person.
    Rules,
    /// A person who has allowed the very same for the session.
    Before,
}

impl Answerer {
    /// Whether it is a person who has yet to look at it.
    pub fn is_person(&self) -> bool {
        *self == Self::Person
    }
}

/// What rules say about something that an agent asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// By the program of a rule (`cat | head`), a pattern, or `edits`.
    Accept {
        rule: String,
        author: Author,
    },
    Reject {
        rule: String,
        author: Author,
    },
    /// A person has to say.
    Manual {
        why: Unruled,
        /// The word, path, program or pattern that this is about.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        about: String,
    },
}

impl Verdict {
    /// A person has to say, for a reason that is about nothing in particular.
    pub fn manual(why: Unruled) -> Self {
        Self::Manual { why, about: String::new() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    Glis,
    /// It is in the user's configuration.
    User,
}

/// Why something is left to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unruled {
    /// There is nothing in the line.
    Empty,
    /// It is longer than a person reads.
    TooLong,
    /// A character that shells may take for something else.
    Character,
    /// A quote that is never closed.
    OpenQuote,
    /// A word in the program's place that shells may take for something else.
    OddProgram,
    NoRule,
    /// The user's rule about this program may not be used.
    Barred,
    /// The program stands behind a `|`, and is not known to only pass on what it reads.
    NoFilter,
    /// A rule of the user's allows it, and an `&&` stands behind it.
    NotLast,
    /// The rules about this program do not allow this word.
    Word,
    /// The rules about this program want more words.
    WordsMissing,
    /// The program is on no folder of the agent's path.
    NoProgram,
    /// The program lies where the agent writes.
    ProgramInside,
    /// The agent's path has a folder whose place depends on where the command runs.
    LoosePath,
    /// A variable of the agent runs files of the worktree, or a function, in the place of a program.
    Variable,
    /// Git would do more than the command says: by a setting, a submodule, or where it runs.
    Git,
    /// A path leads out of the worktree.
    PathOutside,
    /// A file that decides what other programs do.
    Steers,
    /// A file that git does not track, or that lies in no folder which the configuration names.
    Unlisted,
    /// A prompt that no pattern knows.
    NoPattern,
    /// A reject pattern fits, and is not answered with a no: the configuration says so, or a rule allows it.
    Rejectable,
    /// An edit, and the configuration allows none.
    Edits,
    /// A line on a screen that is no question: its program does not read from its terminal.
    NotReading,
    /// A kind of request that no rule is about.
    Unknown,
    /// It is unknown where the command would run, or with which programs.
    Place,
    /// The session is not simply at work: it is being paused, stopped or started.
    NotLive,
    /// What the agent asks cannot be answered with a yes or a no.
    NoSuchAnswer,
    /// The rules have answered the very same over and over, and it is asked once more.
    Repeated,
    /// No verdict or no answer in time.
    Overdue,
    /// The rules could not be applied, for a fault of ours.
    Fault,
}
