//! What an agent's process finds around it: its variables, and a terminal whose former screen stays.

use crate::environments::Env;
use crate::screens;
use glis_agent::LaunchPlan;
use glis_core::spec::Mode;
use glis_record::output::OutputLog;
use glis_screen::Output as _;
use glis_snapshot::git::MISLEADING;
use glis_wire::hold::{MARK, MARK_GENERATION, Size};
use std::path::Path;

/// Brings a terminal back to its main screen and its usual modes.
const USUAL_MODES: &str =
    "\x1b[?1049l\x1b[!p\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?2004l\x1b[0m";

/// What the agent gets: the caller's variables and the agent's own. Left out are our marks, and what
/// git sets for its own children: inside a hook it names the caller's repository, and an agent's
/// commits would land there instead of in its worktree.
pub(super) fn environment(caller: Env, plan: &LaunchPlan, mode: Mode) -> Env {
    let misleading = |key: &str| {
        let ours = [MARK, MARK_GENERATION].contains(&key);
        ours || MISLEADING.contains(&key) || plan.without.contains(&key)
    };
    let mut env: Env = caller
        .into_iter()
        .filter(|(key, _)| !misleading(key) && plan.env.iter().all(|(k, _)| k != key))
        .collect();
    let term = env.iter().position(|(key, _)| key == "TERM");
    let usable = term.and_then(|at| env.get(at)).is_some_and(|(_, v)| !v.is_empty() && v != "dumb");
    if mode == Mode::Terminal && !usable {
        env.retain(|(key, _)| key != "TERM");
        env.push(("TERM".to_owned(), "xterm-256color".to_owned()));
    }
    env.extend(plan.env.iter().cloned());
    for secret in &plan.secrets {
        if env.iter().all(|(key, _)| key != secret) {
            env.push(((*secret).to_owned(), uuid::Uuid::new_v4().simple().to_string()));
        }
    }
    env
}

/// What is written between the screens of two runs: usual modes, and a fresh line below everything
/// that is to be seen, so that the former screen stays above.
pub(super) fn seam(dir: &Path) -> String {
    match screens::last_row(dir) {
        Some(row) => format!("{USUAL_MODES}\x1b[{row};1H\r\n"),
        None => format!("{USUAL_MODES}\x1b[999;1H\r\n"),
    }
}

pub(super) fn last_size(dir: &Path) -> Size {
    OutputLog::new(dir).sizes().last().map_or(Size::USUAL, |(_, size)| *size)
}
