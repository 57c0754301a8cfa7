//! A worktree as its owner sees it: files with modes and link targets, every stage of the index,
//! what is in progress. Looked at with git and the file system alone, not with what is to be
//! shown or proved.
//!
//! The tests of snapshots and the end-to-end tests compare worktrees with this very file.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What git keeps in a worktree's own folder while something is in progress, and what is of this
/// worktree alone.
const OWN: [&str; 18] = [
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "ORIG_HEAD",
    "SQUASH_MSG",
    "BISECT_LOG",
    "BISECT_START",
    "BISECT_NAMES",
    "BISECT_TERMS",
    "config.worktree",
    "info/sparse-checkout",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

/// How git sees a worktree. What it would print as a difference follows from these and the files.
const VIEWS: [&[&str]; 6] = [
    // Which branch, which commit, what differs how; an intent to add shows here.
    &["status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z"],
    &["ls-files", "--stage", "-z"],
    &["ls-files", "-v", "-z"],
    &["ls-files", "--resolve-undo", "-z"],
    &["diff", "--raw", "-z", "--no-abbrev"],
    &["for-each-ref", "refs/bisect", "refs/worktree", "refs/rewritten"],
];

/// Differences that are told one by one; the others are counted.
const TOLD_MAX: usize = 5;

/// Runs git in a folder and returns what it prints.
pub(crate) type Git<'a> = &'a dyn Fn(&Path, &[&str]) -> io::Result<Vec<u8>>;

/// One thing that is to be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    File { mode: u32, bytes: Vec<u8> },
    Link(Vec<u8>),
    Folder { mode: u32 },
    Git(Vec<u8>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Portrait(pub(crate) BTreeMap<Vec<u8>, Item>);

impl Portrait {
    /// Of a worktree, and of the repositories inside it.
    pub(crate) fn of(git: Git<'_>, tree: &Path) -> io::Result<Self> {
        let mut portrait = Self::default();
        portrait.see_repository(git, tree, tree)?;
        portrait.see(git, tree, tree)?;
        Ok(portrait)
    }

    fn see(&mut self, git: Git<'_>, top: &Path, dir: &Path) -> io::Result<()> {
        for entry in dir.read_dir().map_err(|fault| at(dir, &fault))? {
            let path = entry?.path();
            let facts = path.symlink_metadata()?;
            if path.file_name().is_some_and(|name| name == ".git") {
                if dir != top {
                    self.see_repository(git, top, dir)?;
                }
                continue;
            }
            let name = below(top, &path)?.as_os_str().as_bytes().to_vec();
            let mode = facts.mode() & 0o7777;
            if facts.is_symlink() {
                let target = std::fs::read_link(&path)?;
                self.0.insert(name, Item::Link(target.as_os_str().as_bytes().to_vec()));
            } else if facts.is_dir() {
                self.0.insert(name, Item::Folder { mode });
                self.see(git, top, &path)?;
            } else if facts.is_file() {
                // What is no file has no bytes: to read a pipe is to wait for its writer.
                let bytes = std::fs::read(&path)?;
                self.0.insert(name, Item::File { mode, bytes });
            }
        }
        Ok(())
    }

    /// What git knows of a worktree: this one, or one inside it.
    fn see_repository(&mut self, git: Git<'_>, top: &Path, tree: &Path) -> io::Result<()> {
        let inside = below(top, tree)?.display().to_string();
        let label = |what: &str| format!("git {what} in ./{inside}").into_bytes();
        for view in VIEWS {
            let said = git(tree, view)?;
            self.0.insert(label(&view.join(" ")), Item::Git(said));
        }
        let said = git(tree, &["rev-parse", "--absolute-git-dir"])?;
        let git_dir = std::str::from_utf8(&said).map_err(io::Error::other)?;
        let git_dir = Path::new(git_dir.trim_end());
        for name in OWN {
            let path = git_dir.join(name);
            if path.is_dir() {
                for entry in path.read_dir()? {
                    let path = entry?.path();
                    if path.is_file() {
                        let name = below(git_dir, &path)?.display().to_string();
                        self.0.insert(label(&name), Item::Git(std::fs::read(&path)?));
                    }
                }
            } else if let Ok(bytes) = std::fs::read(&path) {
                self.0.insert(label(name), Item::Git(bytes));
            }
        }
        Ok(())
    }

    /// What is otherwise in `other` than it should be; nothing if all is the same.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let mut names: Vec<_> = self.0.keys().chain(other.0.keys()).collect();
        names.sort();
        names.dedup();
        let differ = names.into_iter().filter(|name| self.0.get(*name) != other.0.get(*name));
        let mut told: Vec<String> = differ
            .map(|name| {
                let shown = name.escape_ascii();
                match (self.0.get(name), other.0.get(name)) {
                    (Some(_), None) => format!("{shown}: it is gone"),
                    (None, _) => format!("{shown}: it was not there"),
                    (Some(before), Some(after)) => {
                        format!("{shown}: {}", differ_how(before, after))
                    }
                }
            })
            .collect();
        let count = told.len();
        if count > TOLD_MAX {
            told.truncate(TOLD_MAX);
            told.push(format!("and {} more", count - TOLD_MAX));
        }
        told
    }
}

fn differ_how(before: &Item, after: &Item) -> String {
    match (before, after) {
        (Item::File { mode: a, bytes: x }, Item::File { mode: b, bytes: y }) if x == y => {
            format!("its mode was {a:o} and is {b:o}")
        }
        (Item::File { bytes: x, .. }, Item::File { bytes: y, .. })
        | (Item::Git(x), Item::Git(y))
        | (Item::Link(x), Item::Link(y)) => {
            let at = x.iter().zip(y).take_while(|(a, b)| a == b).count();
            format!("{} bytes, were {}; they part at byte {at}", y.len(), x.len())
        }
        (Item::Folder { mode: a }, Item::Folder { mode: b }) => {
            format!("its mode was {a:o} and is {b:o}")
        }
        (Item::File { .. } | Item::Link(_) | Item::Folder { .. } | Item::Git(_), _) => {
            "it is something else".to_owned()
        }
    }
}

fn below<'a>(top: &Path, path: &'a Path) -> io::Result<&'a Path> {
    path.strip_prefix(top).map_err(io::Error::other)
}

fn at(path: &Path, fault: &io::Error) -> io::Error {
    io::Error::new(fault.kind(), format!("{}: {fault}", path.display()))
}
