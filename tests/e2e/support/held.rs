//! A session with its holder, and whether it goes on afterwards.

use crate::support::house::{House, Outcome};
use crate::support::wreck::{holder_of, marked, pid_of, text_of};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::time::Duration;

/// Why a process that cannot be ended cannot be had.
pub(crate) const NO_FREEZER: &str = "no control group freezes processes here";

/// Far beyond every bound, and far below for ever.
pub(crate) const BOUND: Duration = Duration::from_secs(90);

pub(crate) fn signal(pid: i32, signal: Signal) -> Outcome {
    Ok(kill_process(Pid::from_raw(pid).ok_or("no pid")?, signal)?)
}

/// A headless session that has worked, and the process that holds its agent.
pub(crate) fn held(house: &House) -> Outcome<(Value, i32)> {
    house.rehearsal("blue")?;
    let session = house.turn("blue", "write a.txt one")?;
    let holder = holder_of(pid_of(&session)?)?;
    Ok((session, holder))
}

pub(crate) fn warnings(session: &Value) -> String {
    session["warnings"].to_string()
}

/// Nothing of the session runs any more, and it can go on.
pub(crate) fn goes_on(house: &House, session: &Value) -> Outcome {
    assert_eq!(marked(&text_of(session, "id")?), Vec::<i32>::new());
    house.json(&["resume", "blue"])?;
    house.turn("blue", "say hello")?;
    Ok(())
}
