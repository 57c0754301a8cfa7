//! A repository to break, and a portrait of a worktree to compare with.

use crate::portrait::Portrait;
use crate::skip::skip;
use glis_snapshot::{Limits, RestoreRequest, Restored, SaveRequest, Saved, Stand, restore, save};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A repository with one linked worktree, where the agent works.
pub(crate) struct House {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) repo: PathBuf,
    pub(crate) tree: PathBuf,
}

pub(crate) const SESSION: &str = "s1";

impl House {
    pub(crate) fn new() -> Outcome<Self> {
        Self::with(&[])
    }

    pub(crate) fn with(init: &[&str]) -> Outcome<Self> {
        let dir = tempfile::tempdir()?;
        let base = dir.path().canonicalize()?;
        let (repo, tree) = (base.join("repo"), base.join("tree"));
        fs::create_dir(&repo)?;
        git(&repo, &[&["init", "-q", "-b", "main"], init].concat())?;
        for (path, text) in [
            ("a.txt", "one\ntwo\n"),
            ("dir/b.txt", "b\n"),
            ("dir/sub/c.txt", "c\n"),
            ("run.sh", "#!/bin/sh\n"),
            ("gone.txt", "gone\n"),
            ("other/d.txt", "d\n"),
            ("other/e.txt", "e\n"),
        ] {
            put(&repo, path, text)?;
        }
        mode(&repo, "run.sh", 0o755)?;
        std::os::unix::fs::symlink("a.txt", repo.join("link"))?;
        git(&repo, &["add", "-A"])?;
        git(&repo, &["commit", "-q", "-m", "first"])?;
        put(&repo, "a.txt", "one\ntwo\nthree\n")?;
        git(&repo, &["commit", "-q", "-am", "second"])?;
        let path = tree.to_string_lossy().into_owned();
        git(&repo, &["worktree", "add", "-q", "--lock", "--reason", "owner", "-b", "work", &path])?;
        Ok(Self { dir, repo, tree })
    }

    pub(crate) fn git(&self, args: &[&str]) -> Outcome<String> {
        git(&self.tree, args)
    }

    pub(crate) fn put(&self, path: &str, text: &str) -> Outcome {
        put(&self.tree, path, text)
    }

    pub(crate) fn save(&self) -> Outcome<Saved> {
        self.save_why("test")
    }

    pub(crate) fn save_why(&self, why: &str) -> Outcome<Saved> {
        Ok(save(&SaveRequest {
            worktree: &self.tree,
            session: SESSION,
            why,
            limits: Limits::default(),
            passing: None,
        })?)
    }

    pub(crate) fn restore(&self, reference: &str, to: &Path) -> Outcome<Restored> {
        Ok(restore(&self.way_back(reference, to))?)
    }

    pub(crate) fn way_back<'a>(&'a self, reference: &'a str, to: &'a Path) -> RestoreRequest<'a> {
        let stand = Stand::AsItWas;
        let repo_root = &self.repo;
        RestoreRequest { repo_root, reference, to, lock_owner: "owner", stand, own: None }
    }

    /// Does the worst that git can do to a worktree.
    pub(crate) fn destroy(&self) -> Outcome {
        let head = git(&self.tree, &["symbolic-ref", "-q", "--short", "HEAD"]).unwrap_or_default();
        let path = self.tree.to_string_lossy().into_owned();
        git(&self.repo, &["worktree", "remove", "-f", "-f", &path])?;
        for branch in [head.trim(), "work", "side", "topic"] {
            drop(git(&self.repo, &["branch", "-q", "-D", branch]));
        }
        git(
            &self.repo,
            &["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"],
        )?;
        git(&self.repo, &["gc", "-q", "--prune=now"])?;
        Ok(())
    }

    /// Saves, proves that saving changed nothing, destroys, restores, proves that it is the same.
    pub(crate) fn round_trip(&self) -> Outcome<(Saved, Restored)> {
        let before = portrait(&self.tree)?;
        let stamps = stamps(&self.tree)?;
        let saved = self.save()?;
        assert_eq!(stamps, stamps_of(&self.tree)?, "saving touched the worktree");
        glis_snapshot::verify(&self.repo, &saved.reference)?;
        assert_eq!(
            glis_snapshot::compare(&self.tree, &self.repo, &saved.reference, &Limits::default())?,
            glis_snapshot::Difference::Untouched
        );
        let again = self.save()?;
        assert!(!again.fresh, "nothing has changed");
        assert_eq!(again.reference, saved.reference);
        let before = without(before, &saved);
        self.destroy()?;
        assert_eq!(
            glis_snapshot::compare(&self.tree, &self.repo, &saved.reference, &Limits::default())?,
            glis_snapshot::Difference::Gone
        );
        let restored = self.restore(&saved.reference, &self.tree)?;
        assert_same(&before, &portrait(&self.tree)?);
        assert_eq!(
            glis_snapshot::compare(&self.tree, &self.repo, &saved.reference, &Limits::default())?,
            glis_snapshot::Difference::Untouched
        );
        assert_eq!(
            fs::read_dir(self.repo.join(".git/glis"))?
                .flatten()
                .filter(|e| e.file_name() != "aside")
                .count(),
            0
        );
        Ok((saved, restored))
    }
}

fn stamps_of(tree: &Path) -> Outcome<BTreeMap<PathBuf, (u64, i64, i64)>> {
    stamps(tree)
}

/// Inode and times of everything, git's own files of the worktree included.
pub(crate) fn stamps(tree: &Path) -> Outcome<BTreeMap<PathBuf, (u64, i64, i64)>> {
    let mut all = BTreeMap::new();
    let git_dir = PathBuf::from(git(tree, &["rev-parse", "--absolute-git-dir"])?.trim_end());
    for top in [tree.to_owned(), git_dir] {
        let mut waiting = vec![top];
        while let Some(path) = waiting.pop() {
            let meta = fs::symlink_metadata(&path)?;
            // The main worktree's own folder holds what all share, ours included. And git itself
            // touches the shared part of a split index whenever anybody reads it.
            let shared = path.to_string_lossy().contains("/sharedindex.");
            if path == tree.join(".git") && meta.is_dir() || shared {
                continue;
            }
            all.insert(path.clone(), (meta.ino(), meta.mtime_nsec(), meta.ctime_nsec()));
            if meta.is_dir() {
                waiting.extend(fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
            }
        }
    }
    Ok(all)
}

/// A worktree as a user and git see it. Where git refuses to look, that is what is to be seen.
pub(crate) fn portrait(tree: &Path) -> Outcome<Portrait> {
    let git = |dir: &Path, args: &[&str]| {
        let output = command(dir, args).output()?;
        Ok(if output.status.success() { output.stdout } else { output.stderr })
    };
    Ok(Portrait::of(&git, tree)?)
}

/// The portrait without what the snapshot says it does not hold.
fn without(mut portrait: Portrait, saved: &Saved) -> Portrait {
    for item in &saved.not_captured {
        let below = [&item.path[..], b"/"].concat();
        if item.why != glis_snapshot::Why::EmptyFolder {
            portrait.0.retain(|path, _| *path != item.path && !path.starts_with(&below));
        }
    }
    portrait
}

pub(crate) fn assert_same(before: &Portrait, after: &Portrait) {
    let differences = before.differences(after);
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

pub(crate) fn put(dir: &Path, path: &str, text: &str) -> Outcome {
    put_bytes(dir, path.as_bytes(), text.as_bytes())
}

pub(crate) fn put_bytes(dir: &Path, path: &[u8], bytes: &[u8]) -> Outcome {
    let path = dir.join(OsStr::from_bytes(path));
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(fs::write(path, bytes)?)
}

pub(crate) fn mode(dir: &Path, path: &str, mode: u32) -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::set_permissions(dir.join(path), fs::Permissions::from_mode(mode))?)
}

pub(crate) fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir).args(args);
    for (key, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "n"),
        ("GIT_AUTHOR_EMAIL", "e@x"),
        ("GIT_COMMITTER_NAME", "n"),
        ("GIT_COMMITTER_EMAIL", "e@x"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_EDITOR", "true"),
        ("LC_ALL", "C"),
    ] {
        command.env(key, value);
    }
    command
}

/// Runs git as the user would.
pub(crate) fn git(dir: &Path, args: &[&str]) -> Outcome<String> {
    let output = command(dir, args).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("git {args:?}: {said}").into())
}

/// Does `work` as a user who may not do everything, which root always may: in a copy of this binary,
/// by the name of the test.
pub(crate) fn as_nobody(test: &str, work: fn() -> Outcome) -> Outcome {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() {
        return work();
    }
    let dir = tempfile::tempdir()?;
    mode(dir.path(), ".", 0o777)?;
    // The binary may be where that user cannot go.
    let copy = dir.path().join("test");
    fs::copy(std::env::current_exe()?, &copy)?;
    let output = Command::new(&copy)
        .args(["--exact", test, "--nocapture"])
        .env("TMPDIR", dir.path())
        .env("HOME", dir.path())
        .current_dir(dir.path())
        .uid(65534)
        .gid(65534)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
    Ok(())
}

/// Does `work` where it may set the umask, which all tests of a process share: in a process that
/// runs nothing else. It begins with the usual umask and a user's git configuration of its own.
pub(crate) fn alone(test: &str, work: fn() -> Outcome) -> Outcome {
    const MARK: &str = "GLIS_TEST_ALONE";
    if std::env::var_os(MARK).is_some() {
        rustix::process::umask(0o022.into());
        return work();
    }
    let dir = tempfile::tempdir()?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--exact", test, "--nocapture"])
        .env(MARK, "1")
        .env("GIT_CONFIG_GLOBAL", dir.path().join("gitconfig"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
    Ok(())
}

/// Sets something in the configuration of the user who is [`alone`].
pub(crate) fn user_config(args: &[&str]) -> Outcome {
    let file = std::env::var("GIT_CONFIG_GLOBAL")?;
    git(Path::new("/"), &[&["config", "--file", &file], args].concat()).map(drop)
}

/// A small file system of its own; gone when this is dropped.
pub(crate) struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` where this is not allowed, which is said aloud.
    pub(crate) fn mount(options: &std::ffi::CStr) -> Outcome<Option<Self>> {
        let dir = tempfile::tempdir()?;
        let flags = rustix::mount::MountFlags::empty();
        match rustix::mount::mount("glis-test", dir.path(), "tmpfs", flags, options) {
            Ok(()) => Ok(Some(Self(dir))),
            Err(fault) => {
                skip(&format!("no file system can be mounted here: {fault}"), None)?;
                Ok(None)
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file that leaves so many bytes of room.
    pub(crate) fn fill_up(&self, room: u64) -> Outcome<PathBuf> {
        let plug = self.path().join("plug");
        drop(fs::remove_file(&plug));
        let mut file = fs::File::create(&plug)?;
        while file.write_all(&[1; 4096]).is_ok() {}
        file.set_len(file.metadata()?.len().saturating_sub(room))?;
        Ok(plug)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        rustix::mount::unmount(self.path(), rustix::mount::UnmountFlags::DETACH).ok();
    }
}
