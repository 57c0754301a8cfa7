//! A worktree as its owner sees it: files with modes and link targets, every stage of the index,
//! what is in progress. Looked at with git and the file system alone, not with what is to be
//! shown or proved.

use crate::stage::Stage;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What git keeps in a worktree's own folder while something is in progress.
const IN_PROGRESS: [&str; 16] = [
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
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];

/// How git sees a worktree.
const VIEWS: [&[&str]; 4] = [
    // Which branch, which commit, what differs how; an intent to add shows here.
    &["status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z"],
    &["ls-files", "--stage", "-z"],
    &["ls-files", "-v", "-z"],
    &["ls-files", "--resolve-undo", "-z"],
];

/// Differences that are told one by one; the others are counted.
const TOLD_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    File { mode: u32, bytes: Vec<u8> },
    Link(Vec<u8>),
    Folder { mode: u32 },
    Git(Vec<u8>),
}

/// Everything, by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Portrait(BTreeMap<Vec<u8>, Item>);

impl Portrait {
    /// Of a worktree, and of the repositories inside it.
    pub(crate) fn of(stage: &Stage, tree: &Path) -> Result<Self> {
        let mut portrait = Self::default();
        portrait.see_repository(stage, tree, tree)?;
        portrait.see(stage, tree, tree)?;
        Ok(portrait)
    }

    fn see(&mut self, stage: &Stage, top: &Path, dir: &Path) -> Result<()> {
        let entries = dir.read_dir().with_context(|| dir.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            let facts = path.symlink_metadata()?;
            if path.file_name().is_some_and(|name| name == ".git") {
                if dir != top {
                    self.see_repository(stage, top, dir)?;
                }
                continue;
            }
            let name = path.strip_prefix(top)?.as_os_str().as_bytes().to_vec();
            let mode = facts.mode() & 0o7777;
            if facts.is_symlink() {
                let target = std::fs::read_link(&path)?;
                self.0.insert(name, Item::Link(target.as_os_str().as_bytes().to_vec()));
            } else if facts.is_dir() {
                self.0.insert(name, Item::Folder { mode });
                self.see(stage, top, &path)?;
            } else {
                let bytes = std::fs::read(&path)?;
                self.0.insert(name, Item::File { mode, bytes });
            }
        }
        Ok(())
    }

    /// What git knows of a worktree: this one, or one inside it.
    fn see_repository(&mut self, stage: &Stage, top: &Path, tree: &Path) -> Result<()> {
        let inside = tree.strip_prefix(top)?.display().to_string();
        let label = |what: &str| format!("git {what} in ./{inside}").into_bytes();
        for view in VIEWS {
            let said = stage.git_in(tree, view)?;
            self.0.insert(label(&view.join(" ")), Item::Git(said));
        }
        let said = stage.git_in(tree, &["rev-parse", "--absolute-git-dir"])?;
        let git_dir = Path::new(std::str::from_utf8(&said)?.trim_end()).to_owned();
        for name in IN_PROGRESS {
            let path = git_dir.join(name);
            if path.is_dir() {
                for entry in path.read_dir()? {
                    let path = entry?.path();
                    if path.is_file() {
                        let name = path.strip_prefix(&git_dir)?.display().to_string();
                        self.0.insert(label(&name), Item::Git(std::fs::read(&path)?));
                    }
                }
            } else if let Ok(bytes) = std::fs::read(&path) {
                self.0.insert(label(name), Item::Git(bytes));
            }
        }
        Ok(())
    }

    /// How much there is to compare.
    pub(crate) fn bytes(&self) -> u64 {
        let size = |item: &Item| match item {
            Item::File { bytes, .. } | Item::Link(bytes) | Item::Git(bytes) => bytes.len(),
            Item::Folder { .. } => 0,
        };
        self.0.iter().map(|(name, item)| (name.len() + size(item)) as u64).sum()
    }

    /// How many files there are.
    pub(crate) fn files(&self) -> usize {
        let is_file = |item: &&Item| matches!(item, Item::File { .. } | Item::Link(_));
        self.0.values().filter(is_file).count()
    }

    /// Expects this text at the end of a file.
    pub(crate) fn append(&mut self, name: &str, text: &[u8]) {
        if let Some(Item::File { bytes, .. }) = self.0.get_mut(name.as_bytes()) {
            bytes.extend_from_slice(text);
        }
    }

    /// Expects of one file what `other` has of it, if that is what was there and a beginning of
    /// this text: a writer was killed in the middle.
    pub(crate) fn append_some(&mut self, name: &str, text: &[u8], other: &Self) {
        let seen = other.0.get(name.as_bytes());
        let (Some(Item::File { bytes, .. }), Some(Item::File { bytes: seen, .. })) =
            (self.0.get_mut(name.as_bytes()), seen)
        else {
            return;
        };
        let added = seen.strip_prefix(bytes.as_slice());
        if let Some(added) = added.filter(|added| text.starts_with(added)) {
            bytes.extend_from_slice(added);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, u32, &str)]) -> Portrait {
        let item = |mode, text: &str| Item::File { mode, bytes: text.as_bytes().to_vec() };
        let name = |name: &str| name.as_bytes().to_vec();
        Portrait(files.iter().map(|(path, mode, text)| (name(path), item(*mode, text))).collect())
    }

    #[test]
    fn a_lost_byte_a_changed_mode_and_a_file_too_many_are_differences() {
        let before = of(&[("a", 0o644, "one\n"), ("b", 0o755, "two\n"), ("c", 0o644, "")]);
        assert_eq!(before.differences(&before.clone()), Vec::<String>::new());
        let after = of(&[("a", 0o644, "one"), ("b", 0o644, "two\n"), ("d", 0o644, "")]);
        assert_eq!(
            before.differences(&after),
            [
                "a: 3 bytes, were 4; they part at byte 3",
                "b: its mode was 755 and is 644",
                "c: it is gone",
                "d: it was not there",
            ]
        );
    }

    #[test]
    fn a_killed_writer_may_have_written_a_beginning_and_nothing_else() {
        let mut before = of(&[("a", 0o644, "one\n")]);
        for (seen, differs) in
            [("one\n", false), ("one\ntw", false), ("one\ntwx", true), ("on", true)]
        {
            let seen = of(&[("a", 0o644, seen)]);
            let mut expected = before.clone();
            expected.append_some("a", b"two\n", &seen);
            assert_eq!(!expected.differences(&seen).is_empty(), differs, "{seen:?}");
        }
        before.append("a", b"two\n");
        assert!(before.differences(&of(&[("a", 0o644, "one\ntwo\n")])).is_empty());
    }
}
