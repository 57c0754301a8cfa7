//! The refs of snapshots: `refs/glis/snap/<session>/<id>`, and `refs/glis/trash/…` for those of
//! deleted sessions. Git shows them only when asked for.

use crate::fault::{About as _, SnapshotFault};
use crate::git::{checked, offline, run_in};
use crate::hash::Oid;
use crate::scratch::{sync_dir, write_durably};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) const SNAP: &str = "refs/glis/snap";
pub(crate) const TRASH: &str = "refs/glis/trash";

/// A ref of a snapshot, with what its commit says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) commit: Oid,
    pub(crate) secs: i64,
    pub(crate) message: String,
}

impl Found {
    /// The value of a line `key: value` in the message.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.message.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
    }

    /// The last part of the name.
    pub(crate) fn id(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// When it was taken, in milliseconds: the id begins with it.
    pub(crate) fn millis(&self) -> u64 {
        let digits = self.id().split('-').next().unwrap_or_default();
        digits.parse().unwrap_or_default()
    }
}

/// Lets a name through that can be one part of a ref's name, and of a path.
pub(crate) fn part(name: &str) -> Result<&str, SnapshotFault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let good = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 128
        && name.chars().all(plain)
        && !name.contains("..")
        && !name.ends_with('.')
        && std::path::Path::new(name).extension().is_none_or(|end| end != "lock");
    if good { Ok(name) } else { Err(SnapshotFault::BadName(name.to_owned())) }
}

/// The refs below `prefix`, the oldest first. With `latest`, no more than that many of the last.
pub(crate) fn below(
    common: &Path,
    prefix: &str,
    latest: Option<usize>,
) -> Result<Vec<Found>, SnapshotFault> {
    let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00";
    let count = latest.map(|n| format!("--count={n}"));
    let pattern = format!("{prefix}/");
    let mut args = vec!["for-each-ref", "--sort=-refname", format, &pattern];
    args.extend(count.as_deref());
    let said = run_in(common, &args)?;
    let fields: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let mut found: Vec<Found> = fields.chunks_exact(4).filter_map(understand).collect();
    found.reverse();
    Ok(found)
}

/// The names of the refs below `prefix`, the oldest first, each with its commit.
pub(crate) fn names(common: &Path, prefix: &str) -> Result<Vec<(String, String)>, SnapshotFault> {
    let format = "--format=%(refname) %(objectname)";
    let said = run_in(common, &["for-each-ref", "--sort=refname", format, &format!("{prefix}/")])?;
    let text = String::from_utf8_lossy(&said);
    let words = text.lines().filter_map(|line| line.split_once(' '));
    Ok(words.map(|(name, commit)| (name.to_owned(), commit.to_owned())).collect())
}

fn understand(fields: &[&[u8]]) -> Option<Found> {
    let text = |at: usize| String::from_utf8_lossy(fields.get(at).copied().unwrap_or_default());
    Some(Found {
        // The newline between two records is at the start of the second.
        name: text(0).trim_start().to_owned(),
        commit: Oid::from_hex(fields.get(1)?)?,
        secs: text(2).parse().unwrap_or_default(),
        message: text(3).into_owned(),
    })
}

pub(crate) fn exact(common: &Path, name: &str) -> Result<Found, SnapshotFault> {
    let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00";
    let said = run_in(common, &["for-each-ref", format, name])?;
    let fields: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let found = fields.chunks_exact(4).filter_map(understand).find(|found| found.name == name);
    found.ok_or_else(|| SnapshotFault::Missing(name.to_owned()))
}

/// Publishes a snapshot. This is the last step of a save: from here on it exists.
pub(crate) fn publish(common: &Path, name: &str, commit: &Oid) -> Result<(), SnapshotFault> {
    if common.join("reftable").is_dir() {
        let zero = "0".repeat(commit.as_bytes().len() * 2);
        run_in(common, &["update-ref", name, &commit.to_string(), &zero])?;
        return sync_dir(&common.join("reftable"));
    }
    let path = common.join(name);
    let mut left = ATTEMPTS;
    loop {
        left -= 1;
        match place(common, &path, commit) {
            Err(SnapshotFault::File { source, .. })
                if left > 0
                    && matches!(source.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {}
            placed => return placed,
        }
    }
}

/// Far more than it takes. A `git pack-refs` beside us removes a folder of refs that is empty, also one that was just made.
/// `create_dir_all` says that the folder exists when it goes between its making and its look.
const ATTEMPTS: u32 = 1000;

fn place(common: &Path, path: &Path, commit: &Oid) -> Result<(), SnapshotFault> {
    let folder = path.parent().unwrap_or(common);
    let fresh = !folder.is_dir();
    std::fs::create_dir_all(folder).about(folder)?;
    write_durably(path, format!("{commit}\n").as_bytes())?;
    if fresh {
        for above in folder.ancestors().skip(1).take_while(|above| above.starts_with(common)) {
            sync_dir(above)?;
        }
    }
    Ok(())
}

/// Applies changes of refs, all or none. Each is a line in the language of `update-ref --stdin`.
pub(crate) fn update(common: &Path, lines: &[String]) -> Result<(), SnapshotFault> {
    apply(updating(common), lines, Stdio::null())
}

/// The call that [`apply`] gives its lines to.
pub(crate) fn updating(common: &Path) -> Command {
    let mut command = offline(common);
    command.env("GIT_DIR", common).args(["update-ref", "--stdin"]);
    command
}

/// As [`update`], by a git that holds on to something meanwhile. It has nothing to say there.
pub(crate) fn apply(
    mut command: Command,
    lines: &[String],
    held: Stdio,
) -> Result<(), SnapshotFault> {
    if lines.is_empty() {
        return Ok(());
    }
    command.stdin(Stdio::piped()).stdout(held).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(crate::GitFault::NotRun)?;
    if let Some(mut pipe) = child.stdin.take() {
        // Git's own words about a refused line say more than a closed pipe.
        drop(pipe.write_all(lines.join("\n").as_bytes()).and_then(|()| pipe.write_all(b"\n")));
    }
    let output = child.wait_with_output().map_err(crate::GitFault::NotRun)?;
    checked(output, "update-ref")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// As `git pack-refs` does, which every `git gc` begins with.
    #[test]
    fn a_folder_that_is_removed_while_it_is_empty_is_made_again() {
        let common = tempfile::tempdir().unwrap();
        let folder = common.path().join("refs/glis/snap/x");
        let commit = Oid::from_bytes(&[7; 20]).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    fs::remove_dir(&folder).ok();
                    // Thousands of times as often as git: one that never rests leaves no moment at all.
                    std::thread::sleep(Duration::from_micros(20));
                }
            });
            for number in 0..200 {
                let name = format!("refs/glis/snap/x/{number}");
                let published = publish(common.path(), &name, &commit);
                if published.is_err() {
                    done.store(true, Ordering::Relaxed);
                }
                published.unwrap();
                fs::remove_file(common.path().join(name)).unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}
