//! Whether something that an agent asks may be answered for a person.
//!
//! A wrong yes runs a program that nobody wanted, so everything here asks when in doubt. A command
//! line is read by a lexer for a small language in which all shells agree ([`argv`]); a rule allows
//! one program with listed flags and kinds of arguments ([`Rule`]); programs and paths are looked up
//! on the disk, through links ([`Place`]). Patterns on text serve only prompts that carry neither a
//! command nor an edit ([`Patterns`]).

mod argv;
mod barred;
mod commanded;
mod defaults;
mod edit;
mod git;
mod judge;
mod kind;
mod patterns;
mod place;
mod rule;
mod sets;
mod why;

pub use argv::{Command, Joint, LINE_BYTES_MAX, argv, commands};
pub use barred::{Barred, barred};
pub use edit::Edits;
pub use judge::{Author, Judge, RejectAction, Request, Settings, Verdict};
pub use kind::Kind;
pub use patterns::{BadPattern, Patterns, is_too_wide};
pub use place::Place;
pub use rule::{BadRule, Rule};
pub use sets::Set;
pub use why::{NotPlain, Why};
