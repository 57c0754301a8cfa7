//! All snapshots of a repository looked at together. For hundreds of sessions it would take too long to
//! ask git about each: here a few processes answer for all of them.

use crate::compare::{files_of, is_untouched};
use crate::fault::SnapshotFault;
use crate::fill::Item;
use crate::git::{GitFault, offline, run, run_in};
use crate::hash::{Format, Oid};
use crate::list::Shelf;
use crate::loaded::Loaded;
use crate::objects::Objects;
use crate::place::Place;
use crate::read::Limits;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;

/// A repository that is being looked at.
pub struct Checkup {
    repo_root: PathBuf,
    common: PathBuf,
    format: Format,
    /// Branches and snapshots, with what they stand on.
    refs: HashMap<String, Oid>,
    objects: Objects,
    trees: Trees,
}

impl Checkup {
    /// Begins to look, with three processes.
    pub fn open(repo_root: &Path) -> Result<Self, SnapshotFault> {
        let asked = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let said = run(repo_root, &[&asked[..], &["--show-object-format"]].concat())?;
        let strange = || SnapshotFault::Broken(format!("git rev-parse said {said:?}"));
        let (common, format) = said.rsplit_once('\n').ok_or_else(strange)?;
        let (common, format) =
            (PathBuf::from(common), Format::by_name(format).ok_or_else(strange)?);
        let format_of_refs = "--format=%(refname) %(objectname)";
        let said = run_in(&common, &["for-each-ref", format_of_refs, "refs/heads", "refs/glis"])?;
        let text = String::from_utf8_lossy(&said);
        let refs = text.lines().filter_map(|line| {
            let (name, oid) = line.split_once(' ')?;
            Some((name.to_owned(), Oid::from_hex(oid.as_bytes())?))
        });
        let (refs, objects) = (refs.collect(), Objects::open(&common)?);
        let repo_root = repo_root.to_owned();
        Ok(Self { repo_root, common, format, refs, objects, trees: Trees::default() })
    }

    pub fn sessions(&self, shelf: Shelf) -> BTreeSet<String> {
        let prefix = format!("{}/", shelf.prefix());
        let ids = self.refs.keys().filter_map(|name| name.strip_prefix(&prefix)?.split('/').next());
        ids.map(ToOwned::to_owned).collect()
    }

    /// As [`crate::read_back`] for each of these, with three processes if all are sound. Tells which
    /// are not, and why.
    pub fn read_back<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> BTreeMap<String, SnapshotFault> {
        let (there, missing): (Vec<&str>, Vec<&str>) =
            names.into_iter().partition(|name| self.refs.contains_key(*name));
        let gone = |name: &str| (name.to_owned(), SnapshotFault::Missing(name.to_owned()));
        let mut faults: BTreeMap<_, _> = missing.into_iter().map(gone).collect();
        let commits: Vec<Oid> =
            there.iter().filter_map(|name| self.refs.get(*name)).copied().collect();
        if self.are_sound(&commits).unwrap_or(false) {
            return faults;
        }
        // Something is broken: only now is it worth a process or two to learn what belongs to whom.
        for name in there {
            if let Err(fault) = crate::list::read_back(&self.repo_root, name) {
                faults.insert(name.to_owned(), fault);
            }
        }
        faults
    }

    /// Whether every object of these is there, and those that no commit of the user's has can be read.
    fn are_sound(&self, commits: &[Oid]) -> Result<bool, SnapshotFault> {
        if commits.is_empty() {
            return Ok(true);
        }
        let (mut all, mut own) = (String::new(), String::new());
        for commit in commits {
            let _ = writeln!(all, "{commit}");
            let _ = write!(own, "{commit}\n^{commit}^@\n");
        }
        let whole = ["rev-list", "--objects", "--no-walk", "--quiet", "--stdin"];
        if !self.ask(&whole, all.as_bytes(), Stdio::null())?.status.success() {
            return Ok(false);
        }
        let listing = ["rev-list", "--objects", "--no-object-names", "--stdin"];
        let listed = self.ask(&listing, own.as_bytes(), Stdio::piped())?;
        if !listed.status.success() {
            return Ok(false);
        }
        let read = self.ask(&["cat-file", "--batch", "--buffer"], &listed.stdout, Stdio::null())?;
        Ok(read.status.success() && read.stderr.is_empty())
    }

    fn ask(&self, args: &[&str], input: &[u8], answer: Stdio) -> Result<Output, SnapshotFault> {
        let mut command = offline(&self.common);
        command.env("GIT_DIR", &self.common).args(args);
        command.stdin(Stdio::piped()).stdout(answer).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitFault::NotRun)?;
        if let Some(mut pipe) = child.stdin.take() {
            // A git that has met something broken reads no further; how it ends says more.
            drop(pipe.write_all(input));
        }
        Ok(child.wait_with_output().map_err(GitFault::NotRun)?)
    }

    /// Whether a worktree is surely as a snapshot has it, without asking git. What git ignores and
    /// converts is believed to be what it was when the snapshot was taken, so a start, which has to
    /// know, uses [`crate::compare`]; on `false` the caller asks that as well.
    pub fn is_untouched(&mut self, worktree: &Path, reference: &str, limits: &Limits) -> bool {
        self.look_at(worktree, reference, limits).is_ok_and(|same| same == Some(true))
    }

    fn look_at(
        &mut self,
        worktree: &Path,
        reference: &str,
        limits: &Limits,
    ) -> Result<Option<bool>, SnapshotFault> {
        let place = Place::known(worktree, &self.common, self.format, &self.refs);
        let (Some(place), Some(commit)) = (place, self.refs.get(reference).copied()) else {
            return Ok(None);
        };
        let (objects, trees) = (&mut self.objects, &mut self.trees);
        let loaded = Loaded::read_by(objects, commit, reference, |objects| {
            trees.items(objects, &format!("{commit}:gitdir"))
        })?;
        let items = trees.items(objects, &format!("{commit}:worktree"))?;
        is_untouched(&place, &loaded, &files_of(items, &loaded.state), limits).map(Some)
    }
}

/// Trees that were read. Sessions of one repository have most of their folders in common.
#[derive(Default)]
struct Trees(HashMap<Oid, Arc<Vec<Item>>>);

impl Trees {
    /// The files below a tree, by its name; none if there is no such tree.
    fn items(&mut self, objects: &mut Objects, name: &str) -> Result<Vec<Item>, SnapshotFault> {
        let mut all = Vec::new();
        let names = [name.to_owned()];
        if let Some(tree) = objects.look_up(&names)?.pop().flatten() {
            self.gather(objects, tree.oid, b"", &mut all)?;
        }
        Ok(all)
    }

    fn gather(
        &mut self,
        objects: &mut Objects,
        tree: Oid,
        prefix: &[u8],
        all: &mut Vec<Item>,
    ) -> Result<(), SnapshotFault> {
        let entries = if let Some(entries) = self.0.get(&tree) {
            Arc::clone(entries)
        } else {
            let broken = || SnapshotFault::Broken(format!("the tree {tree} cannot be read"));
            let raw = objects.read(&tree.to_string())?.ok_or_else(broken)?;
            let entries = Arc::new(entries(&raw, tree.as_bytes().len()).ok_or_else(broken)?);
            self.0.insert(tree, Arc::clone(&entries));
            entries
        };
        for Item { mode, oid, path } in entries.iter() {
            let path = [prefix, path].concat();
            if *mode == 0o040_000 {
                self.gather(objects, *oid, &[&path, &b"/"[..]].concat(), all)?;
            } else {
                all.push(Item { mode: *mode, oid: *oid, path });
            }
        }
        Ok(())
    }
}

/// Reads the bytes of a tree: mode, name, and the raw name of the object, again and again.
fn entries(mut raw: &[u8], oid_len: usize) -> Option<Vec<Item>> {
    let mut all = Vec::new();
    while !raw.is_empty() {
        let space = raw.iter().position(|byte| *byte == b' ')?;
        let end = raw.iter().position(|byte| *byte == 0)?;
        let mode = u32::from_str_radix(std::str::from_utf8(raw.get(..space)?).ok()?, 8).ok()?;
        let path = raw.get(space + 1..end)?.to_vec();
        let oid = Oid::from_bytes(raw.get(end + 1..end + 1 + oid_len)?)?;
        all.push(Item { mode, oid, path });
        raw = raw.get(end + 1 + oid_len..)?;
    }
    Some(all)
}
