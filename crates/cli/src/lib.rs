//! The front ends: everything a person or a script uses. They know the daemon's words, nothing
//! else of it.

pub mod attach;
pub mod complaint;
pub mod control;
mod progress;
mod streams;
mod verbs;
mod width;
mod words;

pub use control::{connector, find_home, keep};
pub use glis_tty as tty;
pub use verbs::{
    KeyCheck, Keys, Next, Performed, Web, WebFront, check_keys_by, chosen_keys, perform, run,
    show_session, tell, work_on_draft,
};
pub use words::verdict::verdict;
