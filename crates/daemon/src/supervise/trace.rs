//! Which conversation an agent is in that does not tell: its process has files of it open.
//!
//! Two agents may work in one folder at the same time, so the folder alone says nothing. What counts
//! is what this very process holds, and only an id that was given after it had begun: programs look
//! into old conversations as well.

use glis_agent::{Agent, OpenRef, RefFile};
use glis_core::session::Process;
use glis_os::process::{open_files_of, runs, time_of};
use glis_record::durable;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Both clocks tick in hundredths of a second, and they are not read in the same moment.
const SLACK: Duration = Duration::from_millis(50);

/// The process that is looked at.
#[derive(Clone)]
pub(super) struct Trace {
    process: Process,
    worktree: PathBuf,
    began_ms: u64,
    /// Whether a user began the conversation in our folder, for those that were looked at.
    judged: HashMap<String, bool>,
    /// It was seen in the conversation that it is known by.
    pub(super) confirmed: bool,
    /// The file that it writes that conversation to: another one after something was undone.
    pub(super) writes_to: Option<PathBuf>,
}

/// An id that the process works under.
struct Open {
    given: OpenRef,
    /// Whether a user began it in our folder; unknown while nothing is written there.
    ours: Option<bool>,
}

impl Trace {
    pub(super) fn new(process: &Process, worktree: &str) -> Option<Self> {
        Some(Self {
            process: process.clone(),
            worktree: PathBuf::from(worktree),
            began_ms: began_ms(process.start_ticks)?,
            judged: HashMap::new(),
            confirmed: false,
            writes_to: None,
        })
    }

    /// The id that the process works under, if that is another than `current`.
    pub(super) fn look(&mut self, agent: &dyn Agent, current: Option<&str>) -> Option<String> {
        let mut open: Vec<Open> = Vec::new();
        for (given, path) in held(agent, &self.process) {
            let written = given.file == RefFile::Transcript;
            let ours = written.then(|| self.judge(agent, &given.id, &path)).flatten();
            if written && Some(given.id.as_str()) == current {
                self.writes_to = Some(path);
            }
            match open.iter_mut().find(|known| known.given.id == given.id) {
                Some(known) => known.ours = known.ours.or(ours),
                None => open.push(Open { given, ours }),
            }
        }
        self.confirmed |= open.iter().any(|open| Some(open.given.id.as_str()) == current);
        choose(&open, current, self.began_ms).map(ToOwned::to_owned)
    }

    /// Whether a user began this conversation in our folder. The answer stays the same.
    fn judge(&mut self, agent: &dyn Agent, id: &str, transcript: &Path) -> Option<bool> {
        if let Some(judged) = self.judged.get(id) {
            return Some(*judged);
        }
        let begun_in = agent.begun_in(&durable::first_line(transcript)?);
        let ours = begun_in.is_some_and(|folder| same_folder(Path::new(&folder), &self.worktree));
        self.judged.insert(id.to_owned(), ours);
        Some(ours)
    }
}

/// A user may begin another conversation at the terminal: then the agent holds both, and the later one
/// counts as soon as something is written there. Helpers of the agent are not begun by a user.
fn choose<'o>(open: &'o [Open], current: Option<&str>, began_ms: u64) -> Option<&'o str> {
    let slack = u64::try_from(SLACK.as_millis()).unwrap_or_default();
    let since = began_ms.saturating_sub(slack);
    let given = |ours: Option<bool>| {
        open.iter().filter(move |open| open.ours == ours).map(|open| &open.given)
    };
    let fresh = |ours| given(ours).filter(move |given| given.given_ms >= since);
    let now = open.iter().map(|open| &open.given).find(|given| Some(given.id.as_str()) == current);
    let latest = fresh(Some(true)).max_by_key(|given| given.given_ms);
    if let Some(latest) = latest.filter(|l| now.is_none_or(|now| now.given_ms < l.given_ms)) {
        return Some(&latest.id);
    }
    if now.is_some() {
        return None;
    }
    fresh(None).min_by_key(|given| given.given_ms).map(|given| given.id.as_str())
}

/// What the process has open. Its number may be another's by now: nothing of that one counts.
fn held(agent: &dyn Agent, process: &Process) -> Vec<(OpenRef, PathBuf)> {
    let known = |path: PathBuf| Some((agent.ref_of_file(path.to_str()?)?, path));
    let held: Vec<_> = open_files_of(process.pid).filter_map(known).collect();
    if runs(process.pid, process.start_ticks) { held } else { Vec::new() }
}

/// The time of a tick, in milliseconds since the Unix epoch.
fn began_ms(start_ticks: u64) -> Option<u64> {
    let since = time_of(start_ticks)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

fn same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || (real(one).is_some() && real(one) == real(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(id: &str, given_ms: u64, ours: Option<bool>) -> Open {
        let file = RefFile::Lock;
        Open { given: OpenRef { id: id.to_owned(), given_ms, file }, ours }
    }

    #[test]
    fn an_id_that_was_given_before_the_process_began_is_anothers() {
        let old = [open("old", 900, Some(true)), open("older", 100, None)];
        assert_eq!(choose(&old, None, 1000), None);
        let own = [open("old", 900, Some(true)), open("own", 1000, None)];
        assert_eq!(choose(&own, None, 1000), Some("own"));
        let elsewhere = [open("elsewhere", 2000, Some(false))];
        assert_eq!(choose(&elsewhere, None, 1000), None);
    }

    #[test]
    fn what_it_is_known_by_stays_until_somebody_begins_another_conversation() {
        let resumed = open("known", 100, Some(true));
        let begun = open("begun", 2000, None);
        assert_eq!(choose(&[resumed, begun], Some("known"), 1000), None);
        let resumed = open("known", 100, Some(true));
        let spoken = open("begun", 2000, Some(true));
        assert_eq!(choose(&[resumed, spoken], Some("known"), 1000), Some("begun"));
        let helper = [open("known", 1500, Some(true)), open("helper", 2000, Some(false))];
        assert_eq!(choose(&helper, Some("known"), 1000), None);
    }

    #[test]
    fn this_process_began_a_moment_ago() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let start_ticks = glis_os::process::start_ticks(pid).unwrap();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        let age = now - u128::from(began_ms(start_ticks).unwrap());
        assert!(age < 600_000, "{age}");
    }
}
