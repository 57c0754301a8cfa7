//! Who is told what a connection waits for while it is made.

use std::time::Duration;

/// A face whose user waits longer than this says what for.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// A daemon has its place and no open socket: it is just starting or ending.
    ComingOrGoing,
    /// A daemon is connected and has not greeted yet.
    Greeting,
    /// Another command starts the daemon.
    OtherStart,
    /// The daemon that was just started reads its log.
    Start,
    /// A daemon of another build ends.
    Replaced,
}

/// Is told what is waited for. It may be asked many times a second.
pub trait Watcher {
    /// This has been waited for since so long.
    fn waiting(&mut self, what: Waiting, since: Duration);
    /// What a daemon that was started has to say to the person who caused it.
    fn note(&mut self, note: &str);
    /// The daemon, which is this process, was stopped and goes on now.
    fn woken(&mut self, pid: i32);
}

/// Tells nothing: for threads and services.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Watcher for Quiet {
    fn waiting(&mut self, _what: Waiting, _since: Duration) {}
    fn note(&mut self, _note: &str) {}
    fn woken(&mut self, _pid: i32) {}
}
