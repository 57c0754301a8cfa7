//! What verbs tell about how many agents run at once.

use super::ask;
use glis_client::Client;
use glis_wire::client::{Request, Response};
use glis_wire::view::LimitsView;
use std::io::{self, Write as _};

/// Tells how many agents run at once, if that is worth it. That it cannot be asked is no failure of what
/// was done.
pub(super) fn tell_limits(control: &mut Client, tell: fn(&LimitsView) -> Option<String>) {
    if let Ok(Response::Daemon(daemon)) = ask(control, Request::DaemonStatus)
        && let Some(told) = tell(&daemon.limits)
    {
        drop(writeln!(io::stderr(), "{told}"));
    }
}
