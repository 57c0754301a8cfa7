//! What git keeps for one worktree alone: a merge, rebase or bisect in progress, sparse patterns,
//! the log of HEAD. All of it goes when the worktree is removed.

use crate::fault::{About as _, SnapshotFault};
use crate::hash::Oid;
use crate::objects::{Kind, Objects};
use crate::place::Place;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Single files. `BISECT_*` are found by their beginning.
pub(crate) const FILES: [&str; 19] = [
    "HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "SQUASH_MSG",
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "NOTES_MERGE_REF",
    "NOTES_MERGE_PARTIAL",
    "info/sparse-checkout",
    "config.worktree",
    "logs/HEAD",
];

/// Folders, with everything in them. The refs are those that belong to one worktree.
pub(crate) const FOLDERS: [&str; 7] = [
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "refs/bisect",
    "refs/worktree",
    "refs/rewritten",
    "NOTES_MERGE_WORKTREE",
];

/// Lists the worktree's own refs in a repository that keeps refs in tables.
pub(crate) const TABLE: &[u8] = b"glis-table";

/// Of a log of HEAD, this many of the latest commits are kept alive: they are what `git reflog`
/// can still bring back after a reset.
pub(crate) const LOG_LINES_MAX: usize = 100;
/// A log of HEAD that is longer than this is not worth its space.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The files, and the objects they speak of.
#[derive(Debug, Default)]
pub(crate) struct GitFiles {
    /// By their path from git's folder of the worktree.
    pub(crate) files: Vec<(Vec<u8>, Vec<u8>)>,
    /// Commits that must live as long as the snapshot.
    pub(crate) commits: BTreeSet<Oid>,
    /// Trees and blobs that must.
    pub(crate) others: Vec<(Kind, Oid)>,
    /// Branches that the operation in progress will want.
    pub(crate) branches: Vec<(String, Oid)>,
}

impl GitFiles {
    pub(crate) fn read(place: &Place) -> Result<Self, SnapshotFault> {
        let mut found = Self::default();
        for name in FILES {
            found.add(&place.git_dir, name.as_bytes())?;
        }
        for entry in fs::read_dir(&place.git_dir).about(&place.git_dir)?.flatten() {
            let name = entry.file_name();
            if name.as_bytes().starts_with(b"BISECT_") {
                found.add(&place.git_dir, name.as_bytes())?;
            }
        }
        for name in FOLDERS {
            found.add_folder(&place.git_dir, name.as_bytes())?;
        }
        if place.common.join("reftable").is_dir() {
            found.add_table(place)?;
        }
        found.files.sort();
        found.files.dedup();
        Ok(found)
    }

    /// Where refs are kept in tables, those of one worktree are no files: they are listed.
    fn add_table(&mut self, place: &Place) -> Result<(), SnapshotFault> {
        const SHARED: [&str; 6] =
            ["HEAD", "refs/heads/", "refs/tags/", "refs/remotes/", "refs/glis/", "refs/stash"];
        let args = ["for-each-ref", "--include-root-refs", "--format=%(objectname) %(refname)"];
        let said = crate::git::run_in(&place.git_dir, &args)?;
        let text = String::from_utf8_lossy(&said);
        let own = text.lines().filter(|line| {
            let name = line.split(' ').nth(1).unwrap_or_default();
            !SHARED.iter().any(|shared| name.starts_with(shared))
                && !name.starts_with("refs/notes/")
        });
        let own: String = own.flat_map(|line| [line, "\n"]).collect();
        if !own.is_empty() {
            self.files.push((TABLE.to_vec(), own.into_bytes()));
        }
        Ok(())
    }

    /// Finds out which of the names in the files are objects.
    pub(crate) fn resolve(&mut self, objects: &mut Objects) -> Result<(), SnapshotFault> {
        let mut words = BTreeSet::new();
        for (name, bytes) in &self.files {
            collect(name, bytes, &mut words);
        }
        let words: Vec<String> = words.into_iter().collect();
        for object in objects.look_up(&words)?.into_iter().flatten() {
            match object.kind {
                Kind::Commit => drop(self.commits.insert(object.oid)),
                Kind::Blob | Kind::Tree => self.others.push((object.kind, object.oid)),
                Kind::Tag => {}
            }
        }
        self.others.sort_by_key(|(_, oid)| *oid);
        self.others.dedup();
        self.find_branches(objects)
    }

    /// The file's content, without a newline at its end.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let (_, bytes) = self.files.iter().find(|(path, _)| path == name.as_bytes())?;
        Some(String::from_utf8_lossy(bytes).trim_end().to_owned())
    }

    /// An operation ends on the branch where it began, and fails if that has been deleted.
    fn find_branches(&mut self, objects: &mut Objects) -> Result<(), SnapshotFault> {
        let rebased = ["rebase-merge/head-name", "rebase-apply/head-name"];
        let mut names: Vec<String> = rebased.iter().filter_map(|name| self.text(name)).collect();
        if let Some(start) = self.text("BISECT_START") {
            names.push(format!("refs/heads/{start}"));
        }
        // Lines of three: a ref, where it was, where it is to go.
        let also = self.text("rebase-merge/update-refs").unwrap_or_default();
        names.extend(also.lines().step_by(3).map(str::to_owned));
        names.retain(|name| name.starts_with("refs/heads/") && !name.contains(char::is_whitespace));
        let found = objects.look_up(&names)?;
        for (name, object) in names.into_iter().zip(found) {
            if let Some(object) = object.filter(|object| object.kind == Kind::Commit) {
                self.commits.insert(object.oid);
                self.branches.push((name, object.oid));
            }
        }
        self.branches.sort();
        self.branches.dedup();
        Ok(())
    }

    fn add(&mut self, dir: &Path, name: &[u8]) -> Result<(), SnapshotFault> {
        let path = dir.join(std::ffi::OsStr::from_bytes(name));
        let fits = fs::symlink_metadata(&path)
            .is_ok_and(|meta| meta.is_file() && meta.len() <= FILE_BYTES_MAX);
        if !fits {
            return Ok(());
        }
        match fs::read(&path) {
            Ok(bytes) => self.files.push((name.to_vec(), bytes)),
            // Git removes these files whenever it is done with them.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).about(&path),
        }
        Ok(())
    }

    fn add_folder(&mut self, dir: &Path, name: &[u8]) -> Result<(), SnapshotFault> {
        let path = dir.join(std::ffi::OsStr::from_bytes(name));
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            let below = [name, b"/", entry.file_name().as_bytes()].concat();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.add_folder(dir, &below)?;
            } else if !below.ends_with(b".lock") {
                self.add(dir, &below)?;
            }
        }
        Ok(())
    }
}

/// Finds what could be the name of an object. Lists of things to do hold shortened ones.
fn collect(name: &[u8], bytes: &[u8], words: &mut BTreeSet<String>) {
    const PROSE: [&[u8]; 7] = [
        b"MSG",
        b"message",
        b"patch",
        b"author-script",
        b"sparse-checkout",
        b"config.worktree",
        b"FETCH_HEAD",
    ];
    if PROSE.iter().any(|end| name.ends_with(end)) {
        return;
    }
    let is_log = name == b"logs/HEAD";
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let lines = if is_log { &lines[lines.len().saturating_sub(LOG_LINES_MAX)..] } else { &lines };
    for line in lines {
        let parts = line.split(u8::is_ascii_whitespace);
        // In a log the first two words are commits, and the rest is about people.
        for word in parts.take(if is_log { 2 } else { usize::MAX }) {
            let hex = word.iter().all(u8::is_ascii_hexdigit) && (7..=64).contains(&word.len());
            if hex && word.iter().any(|byte| *byte != b'0') {
                words.insert(String::from_utf8_lossy(word).into_owned());
            }
        }
    }
}
