//! What each agent says and how to speak to it. Nothing here touches a process or a file.
//!
//! Adding an agent means one new file with an [`Agent`] and a [`Dialect`], and one line in
//! [`table()`].
#![forbid(unsafe_code)]

mod agent;
mod claude;
mod codex;
mod command;
pub mod context;
mod dialect;
mod gemini;
mod heard;
mod hearing;
pub mod hooks;
mod launch;
pub mod lines;
mod login;
mod opencode;
mod rehearsal;
mod reserved;
pub mod reset;
mod storage;
mod table;
mod wants;

pub use agent::{Agent, Version, Versions};
pub use dialect::{Dialect, ENTER, Interrupt, ScreenPrompt, Shown, Source};
pub use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, DENY};
pub use heard::{CUT_OFF, Heard, Outcome, Said, Tally, TaskChange, Usage};
pub use launch::{Approach, Hooks, LaunchPlan, Places, Relay};
pub use login::{Ability, Login, LoginFacts};
pub use storage::{Database, FileLocation, OpenRef, RefFile, Registered, Rows, Segments};
pub use table::{find, holds_messages, table};
