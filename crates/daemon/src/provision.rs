//! Provisioning: what a fresh worktree gets beside its commit: chosen files of the main one, and a set-up command.

use crate::check_list;
use crate::child::{LINE_BYTES, end_all, last_words, shell};
use crate::common::Common;
use crate::environments::Env;
use crate::panics::held;
use glis_config::{Provisions, regular};
use glis_core::SessionId;
use glis_core::looping::SPEC_BYTES_MAX;
use glis_core::session::Session;
use glis_snapshot::Task;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the set-up command said, in the session's folder.
const LOG: &str = "setup.log";
/// That it was begun, and that it has ended. A daemon that died in between does not begin it again:
/// it may still run.
const BEGUN: &str = "setup.begun";
const ENDED: &str = "setup.ended";
/// That a person cut it short, so that the next start runs it again.
const CUT_SHORT: &str = "setup.cut";

/// Provides fresh worktrees with what their repository's configuration says.
pub(crate) struct Provision {
    common: Arc<Common>,
    set_ups: SetUps,
}

impl Provision {
    pub(crate) fn new(common: Arc<Common>) -> Arc<Self> {
        Arc::new(Self { common, set_ups: SetUps::default() })
    }

    /// Provides a fresh worktree, and says what could not be done.
    pub(crate) fn provide(&self, session: &Session, worktree: &Path) -> Vec<String> {
        let mut notes = self.bring(session, worktree);
        notes.extend(bring_spec(session, worktree));
        let provisions = self.common.settings.now().provisions(&session.spec.repo_root);
        let dir = self.common.home.session(&session.id.0);
        check_list::remember(session, &dir);
        if provisions.setup.is_some() && dir.join(BEGUN).exists() {
            if !dir.join(ENDED).exists() {
                notes.push(format!("its set-up was cut short, see {}", dir.join(LOG).display()));
            }
        } else {
            notes.extend(self.set_up(session, worktree, &provisions));
        }
        notes
    }

    /// Runs a set-up once more that was cut short; `None` if there is none.
    pub(crate) fn provide_again(&self, session: &Session, worktree: &Path) -> Option<Vec<String>> {
        if !self.common.home.session(&session.id.0).join(CUT_SHORT).exists() {
            return None;
        }
        let provisions = self.common.settings.now().provisions(&session.spec.repo_root);
        let mut notes = self.bring(session, worktree);
        notes.extend(self.set_up(session, worktree, &provisions));
        Some(notes)
    }

    /// Runs the set-up command, if there is one, and says why it failed.
    fn set_up(
        &self,
        session: &Session,
        worktree: &Path,
        provisions: &Provisions,
    ) -> Option<String> {
        let command = provisions.setup.as_ref()?;
        let env = self.common.environments.of_next_start(session).0;
        // Its files are the user's, not ours.
        let command = format!("umask {:04o}\n{command}", self.common.umask);
        let dir = self.common.home.session(&session.id.0);
        let place = SetUp { ups: &self.set_ups, id: &session.id, worktree, dir: &dir };
        let failed = place.run(&command, provisions, env).err()?;
        Some(format!("the set-up command failed: {failed}"))
    }

    /// Ends the set-up command of a session, or keeps it from beginning.
    pub(crate) fn cut_short(&self, id: &SessionId) {
        self.set_ups.cut_short(id);
    }

    /// Brings the chosen files along, and says which it could not.
    pub(crate) fn bring(&self, session: &Session, worktree: &Path) -> Vec<String> {
        let root = PathBuf::from(&session.spec.repo_root);
        let provisions = self.common.settings.now().provisions(&session.spec.repo_root);
        let mut notes = Vec::new();
        for (paths, how) in [(&provisions.copy, How::Copy), (&provisions.link, How::Link)] {
            for path in paths {
                if let Err(why) = bring(&root, worktree, path, how) {
                    notes.push(format!("{path} was not brought along: {why}"));
                }
            }
        }
        notes
    }
}

/// The set-up commands that run, and those that must not begin any more.
#[derive(Debug, Default)]
struct SetUps(Mutex<HashMap<SessionId, Wanted>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Runs(Pid),
    NoMore,
}

impl SetUps {
    /// Ends the set-up of a session, with all that it started.
    fn cut_short(&self, id: &SessionId) {
        // As long as this is locked, the child is not collected: its number is its own.
        if let Some(Wanted::Runs(pid)) = held(&self.0).insert(id.clone(), Wanted::NoMore) {
            kill_process_group(pid, Signal::KILL).ok();
        }
    }

    /// Starts a set-up, unless it was cut short before.
    fn begin(&self, id: &SessionId, command: &mut Command) -> io::Result<Option<Child>> {
        let mut known = held(&self.0);
        if known.remove(id) == Some(Wanted::NoMore) {
            return Ok(None);
        }
        let child = command.spawn()?;
        known.insert(id.clone(), Wanted::Runs(Pid::from_child(&child)));
        Ok(Some(child))
    }

    /// Collects one that has ended, and says whether it was wanted to its end.
    fn collect(&self, id: &SessionId, child: &mut Child) -> io::Result<Option<ExitStatus>> {
        let wanted = held(&self.0).remove(id) != Some(Wanted::NoMore);
        let status = child.wait()?;
        Ok(wanted.then_some(status))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Copy,
    Link,
}

/// Brings one path along. What the main worktree does not have, and what the fresh one has already,
/// is left alone.
fn bring(root: &Path, worktree: &Path, path: &str, how: How) -> Result<(), String> {
    let relative = Path::new(path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err("it must be a path inside the repository".to_owned());
    }
    let (from, to) = (root.join(relative), worktree.join(relative));
    if from.symlink_metadata().is_err() || to.symlink_metadata().is_ok() {
        return Ok(());
    }
    let parent = to.parent().unwrap_or(worktree);
    let there = parent.ancestors().find(|dir| dir.symlink_metadata().is_ok());
    // A tracked link could lead out of the worktree.
    let inside =
        |dir: &Path| Ok::<_, io::Error>(dir.canonicalize()?.starts_with(worktree.canonicalize()?));
    if !inside(there.unwrap_or(worktree)).map_err(|fault| fault.to_string())? {
        return Err("a link leads out of the worktree".to_owned());
    }
    fs::create_dir_all(parent).map_err(|fault| fault.to_string())?;
    match how {
        How::Copy => copy(&from, &to),
        How::Link => std::os::unix::fs::symlink(&from, &to),
    }
    .map_err(|fault| fault.to_string())
}

/// Brings along the file that a loop works from, as its user has it. Says why it could not.
fn bring_spec(session: &Session, worktree: &Path) -> Option<String> {
    let file = session.ahead.looped.as_ref()?.spec.file.as_ref()?;
    let (from, to) = (file.from.as_ref()?, worktree.join(&file.path));
    let brought = || {
        let text = regular::text(regular::open(Path::new(from))?, SPEC_BYTES_MAX)?;
        let there = regular::open_inside(worktree, &to);
        if there.and_then(|file| regular::text(file, SPEC_BYTES_MAX)).is_ok_and(|old| old == text) {
            return Ok(());
        }
        fs::create_dir_all(to.parent().unwrap_or(worktree))?;
        // A link that is tracked could lead out of the worktree.
        match fs::remove_file(&to) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault),
            Ok(()) | Err(_) => {}
        }
        fs::write(&to, text)
    };
    let why: io::Error = brought().err()?;
    Some(format!("{} was not brought along: {why}", file.path))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let facts = from.symlink_metadata()?;
    if facts.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if facts.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return fs::set_permissions(to, facts.permissions());
    }
    if !facts.is_file() {
        return Err(io::Error::other("neither a file, a link nor a folder"));
    }
    fs::copy(from, to).map(drop)
}

/// What a set-up command needs to know.
struct SetUp<'a> {
    ups: &'a SetUps,
    id: &'a SessionId,
    worktree: &'a Path,
    /// The session's own folder.
    dir: &'a Path,
}

impl SetUp<'_> {
    /// Runs the command in the worktree, with the caller's environment, and waits for its end.
    fn run(&self, command: &str, provisions: &Provisions, env: Env) -> Result<(), String> {
        let told = |fault: io::Error| fault.to_string();
        let stopped = || {
            File::create(self.dir.join(CUT_SHORT)).map_err(told)?;
            Err("the session was stopped; the next start runs it again".to_owned())
        };
        glis_record::durable::private_folder(self.dir).map_err(told)?;
        let mut log = File::options()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(self.dir.join(LOG))
            .map_err(told)?;
        glis_record::durable::write(self.dir, BEGUN, b"").map_err(told)?;
        let mut shell = shell(command);
        shell.current_dir(self.worktree).env_clear().envs(env).env("PWD", self.worktree);
        // By this what has left its process group is found.
        let task = Task::current();
        shell.envs(task.as_deref().map(Task::variable));
        shell.stdin(Stdio::null()).process_group(0);
        shell.stdout(log.try_clone().map_err(told)?).stderr(log.try_clone().map_err(told)?);
        let Some(mut child) = self.ups.begin(self.id, &mut shell).map_err(told)? else {
            return stopped();
        };
        // It has its own limit, and may well wait for something.
        let in_time = glis_snapshot::patiently(|| {
            glis_os::ends_within(&child, Duration::from_secs(provisions.setup_secs_max.into()))
        });
        let status = self.ups.collect(self.id, &mut child).map_err(told)?;
        // A start that was called off has ended its task, and with it this.
        let status = status.filter(|_| !glis_snapshot::is_over());
        if let Some(task) = task.filter(|_| status.is_none() || !in_time) {
            end_all(&task);
        }
        let Some(status) = status else { return stopped() };
        File::create(self.dir.join(ENDED)).map_err(told)?;
        fs::remove_file(self.dir.join(CUT_SHORT)).ok();
        let how = match (in_time, status.success()) {
            (true, true) => return Ok(()),
            (true, false) => status.to_string(),
            (false, _) => format!("no end after {} s", provisions.setup_secs_max),
        };
        Err(format!("{how}; its last output: {}", last_words(&mut log, LINE_BYTES)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_folders_and_links_are_brought_along() {
        let dir = tempfile::tempdir().unwrap();
        let (root, tree) = (dir.path().join("root"), dir.path().join("tree"));
        fs::create_dir_all(root.join("conf/deep")).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::write(root.join(".env"), "A=1").unwrap();
        fs::write(root.join("conf/deep/x"), "x").unwrap();
        fs::write(root.join("kept"), "of the main one").unwrap();
        fs::write(tree.join("kept"), "of the fresh one").unwrap();
        for path in [".env", "conf", "kept", "missing"] {
            bring(&root, &tree, path, How::Copy).unwrap();
        }
        fs::create_dir(root.join("modules")).unwrap();
        bring(&root, &tree, "modules", How::Link).unwrap();
        assert_eq!(fs::read_to_string(tree.join(".env")).unwrap(), "A=1");
        assert_eq!(fs::read_to_string(tree.join("conf/deep/x")).unwrap(), "x");
        assert_eq!(fs::read_to_string(tree.join("kept")).unwrap(), "of the fresh one");
        assert!(!tree.join("missing").exists());
        assert_eq!(fs::read_link(tree.join("modules")).unwrap(), root.join("modules"));
    }

    #[test]
    fn nothing_is_brought_out_of_the_repository_or_out_of_the_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let (root, tree) = (dir.path().join("root"), dir.path().join("tree"));
        let outside = dir.path().join("outside");
        for folder in [&root.join("conf"), &tree, &outside] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(root.join("conf/.env"), "A=1").unwrap();
        std::os::unix::fs::symlink(&outside, tree.join("conf")).unwrap();
        fs::create_dir_all(root.join("conf/deep/er")).unwrap();
        fs::write(root.join("conf/deep/er/.env"), "A=1").unwrap();
        for path in ["conf/.env", "conf/deep/er/.env", "../outside", "/etc/passwd", "a/../../b", ""]
        {
            let refused = bring(&root, &tree, path, How::Copy);
            assert!(refused.is_err() || path.is_empty(), "{path}: {refused:?}");
        }
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
