//! Why something is left to a person.

use std::path::PathBuf;

/// Why a line is not read at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotPlain {
    /// There is nothing in it.
    Empty,
    /// It is longer than a person reads.
    TooLong,
    /// A character that a shell may take for something else.
    Character(char),
    /// A quote that is never closed.
    OpenQuote,
    /// A word in the program's place that a shell may take for something else.
    Program(String),
}

/// Why a request is left to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The command line is not plain.
    NotPlain(NotPlain),
    /// No rule is about this program.
    NoRule { program: String },
    /// The user's rule about this program may not be used.
    Barred { program: String },
    /// The program stands behind a `|`, and is not known to only pass on what it reads there.
    NoFilter { program: String },
    /// A rule of the user's allows it, and an `&&` stands behind it.
    NotLast { program: String },
    /// There are rules about this program; none allows this word, or that there is none.
    Word { program: String, word: Option<String> },
    /// The program is on no folder of the agent's path.
    NoProgram { program: String },
    /// The program that would run lies where the agent writes.
    ProgramInside { file: PathBuf },
    /// The agent's path has this folder in it, whose place depends on where the command runs.
    LoosePath { folder: String },
    /// A variable that runs files of the worktree, or a function, in the place of a program.
    Variable { name: String },
    /// It is unknown where it would happen, or with which programs.
    NoPlace,
    /// Git would do more than the command says, by this.
    Git { about: String },
    /// A path leads out of the worktree, or it cannot be told where it leads.
    PathOutside { path: String },
    /// A file that decides what other programs do.
    Steers { path: String },
    /// A file that the settings do not let be written: git does not track it, or no folder holds it.
    Unlisted { path: String },
    /// A prompt that no pattern knows.
    NoPattern,
    /// A reject pattern fits, and is not answered with a no: the settings say so, or a rule allows it.
    Rejectable { pattern: String },
    /// An edit, and the settings allow none.
    Edits,
    /// A kind of request that is never answered by rule.
    Unknown,
}
