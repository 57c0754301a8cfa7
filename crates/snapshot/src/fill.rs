//! Writing a snapshot's files to an empty folder, byte for byte: git only hands out the blobs, so
//! no filter, hook or attribute has a say.

use crate::fault::{About as _, SnapshotFault};
use crate::git::{GitFault, offline, run_in};
use crate::hash::Oid;
use crate::index::Stat;
use crate::objects::header;
use crate::rights;
use crate::state::State;
use crate::walk::{from_system, parent};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Stdio};

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) mode: u32,
    pub(crate) oid: Oid,
    pub(crate) path: Vec<u8>,
}

/// The files below one folder of a snapshot's tree; none if there is no such folder.
pub(crate) fn items(common: &Path, commit: &str, folder: &str) -> Result<Vec<Item>, SnapshotFault> {
    let there = run_in(common, &["ls-tree", "-z", "--full-tree", commit, folder])?;
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let tree = format!("{commit}:{folder}");
    let said = run_in(common, &["ls-tree", "-r", "-z", "--full-tree", &tree])?;
    let lines = said.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    let items = lines.map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut words = line[..tab].split(|byte| *byte == b' ');
        let mode = u32::from_str_radix(std::str::from_utf8(words.next()?).ok()?, 8).ok()?;
        let oid = Oid::from_hex(words.nth(1)?)?;
        Some(Item { mode, oid, path: line[tab + 1..].to_vec() })
    });
    let items: Vec<Item> = items
        .collect::<Option<_>>()
        .ok_or_else(|| SnapshotFault::Broken("git ls-tree speaks another language".to_owned()))?;
    items.iter().try_for_each(|item| refuse_outside(&item.path))?;
    Ok(items)
}

/// Any program that can write to the repository can make a snapshot, and git does not mind where its
/// names lead.
fn refuse_outside(path: &[u8]) -> Result<(), SnapshotFault> {
    let leads_out = |part: &[u8]| matches!(part, b"" | b"." | b".." | b".git");
    let out = path.split(|byte| *byte == b'/').any(leads_out);
    if out { Err(cannot_hold(path)) } else { Ok(()) }
}

fn cannot_hold(path: &[u8]) -> SnapshotFault {
    let path = String::from_utf8_lossy(path);
    SnapshotFault::Broken(format!("the snapshot names {path:?}, which no worktree can hold"))
}

/// A file below another that is none but a link would be written wherever the link leads.
fn refuse_below_files(items: &[Item], state: &State) -> Result<(), SnapshotFault> {
    let files = items.iter().filter(|item| item.mode != 0o160_000);
    let files: HashSet<&[u8]> = files.map(|item| item.path.as_slice()).collect();
    let empty = state.empty.iter().map(|(path, _)| path);
    let nested = state.nested.iter().map(|nested| &nested.path);
    for path in items.iter().map(|item| &item.path).chain(empty).chain(nested) {
        refuse_outside(path)?;
        let mut above = parent(path);
        while !above.is_empty() {
            if files.contains(above) {
                return Err(cannot_hold(path));
            }
            above = parent(above);
        }
    }
    Ok(())
}

/// Writes all files of the snapshot below `to`, and returns what the system says about each.
pub(crate) fn fill(
    common: &Path,
    commit: &str,
    state: &State,
    to: &Path,
) -> Result<HashMap<Vec<u8>, Stat>, SnapshotFault> {
    let mut items = items(common, commit, "worktree")?;
    for (oid, path) in &state.odd_names {
        let kept = state.kept.iter().find(|kept| kept.path == *path);
        let mode = kept.map_or(0o100_644, |kept| crate::index::git_mode(kept.stat.mode));
        items.push(Item { mode, oid: *oid, path: path.clone() });
    }
    refuse_below_files(&items, state)?;
    let odd = state.odd_rights.iter().map(|(path, mode)| (path.as_slice(), *mode)).collect();
    let mut filler = Filler { to, state, odd, folders: Vec::new(), last: Vec::new() };
    let (links, files): (Vec<_>, Vec<_>) = items.into_iter().partition(|i| i.mode == 0o160_000);
    for link in links {
        filler.folder(&link.path)?;
    }
    for (path, _) in &state.empty {
        filler.folder(path)?;
    }
    // The repositories themselves come later, and are made without knowledge of these rights.
    for nested in &state.nested {
        filler.folder(parent(&nested.path))?;
    }
    let stats = filler.all(common, &files)?;
    // The deepest first: a folder without the right to enter it would shut us out.
    filler.folders.sort_by(|a, b| b.cmp(a));
    for folder in &filler.folders {
        let mode = filler.odd.get(folder.as_slice()).copied().unwrap_or(state.rights.folder);
        let path = below(to, folder);
        rights::set(&path, mode)?;
    }
    Ok(stats)
}

fn below(to: &Path, path: &[u8]) -> PathBuf {
    to.join(OsStr::from_bytes(path))
}

struct Filler<'a> {
    to: &'a Path,
    state: &'a State,
    odd: HashMap<&'a [u8], u32>,
    folders: Vec<Vec<u8>>,
    /// The folder of the file before, which is there.
    last: Vec<u8>,
}

impl Filler<'_> {
    fn all(
        &mut self,
        common: &Path,
        files: &[Item],
    ) -> Result<HashMap<Vec<u8>, Stat>, SnapshotFault> {
        let mut command = offline(common);
        command.env("GIT_DIR", common).args(["cat-file", "--batch", "--buffer"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(GitFault::NotRun)?;
        let (questions, answers) = (child.stdin.take(), child.stdout.take());
        let stats = std::thread::scope(|scope| {
            crate::threads::within(scope, move || {
                let mut pipe = BufWriter::new(questions?);
                files.iter().try_for_each(|item| writeln!(pipe, "{}", item.oid)).ok()?;
                pipe.flush().ok()
            })?;
            let mut answers = BufReader::with_capacity(
                256 * 1024,
                answers.ok_or(io::ErrorKind::BrokenPipe).map_err(|kind| SnapshotFault::File {
                    path: common.to_owned(),
                    source: kind.into(),
                })?,
            );
            let mut stats = HashMap::with_capacity(files.len());
            for item in files {
                stats.insert(item.path.clone(), self.one(&mut answers, item)?);
            }
            Ok::<_, SnapshotFault>(stats)
        });
        if stats.is_err() {
            drop(child.kill());
        }
        drop(child.wait());
        stats
    }

    fn one(
        &mut self,
        answers: &mut BufReader<ChildStdout>,
        item: &Item,
    ) -> Result<Stat, SnapshotFault> {
        let path = below(self.to, &item.path);
        let folder = parent(&item.path);
        if folder != self.last {
            self.folder(folder)?;
            self.last = folder.to_vec();
        }
        let mut line = String::new();
        answers.read_line(&mut line).about(&path)?;
        let object = header(line.trim_end()).ok_or_else(|| {
            SnapshotFault::Broken(format!("{}: {}", path.display(), line.trim_end()))
        })?;
        let mut content = Read::take(&mut *answers, object.size);
        let stat = if item.mode == 0o120_000 {
            let mut target = Vec::new();
            content.read_to_end(&mut target).about(&path)?;
            std::os::unix::fs::symlink(OsStr::from_bytes(&target), &path).about(&path)?;
            rustix::fs::lstat(&path).about(&path)?
        } else {
            let file = self.file(&path, item, &mut content)?;
            rustix::fs::fstat(&file).about(&path)?
        };
        if content.limit() > 0 {
            return Err(SnapshotFault::Broken(format!("{} ends early", path.display())));
        }
        answers.read_exact(&mut [0]).about(&path)?;
        Ok(from_system(&stat))
    }

    fn file(
        &self,
        path: &Path,
        item: &Item,
        content: &mut impl Read,
    ) -> Result<File, SnapshotFault> {
        let rights = &self.state.rights;
        let usual = if item.mode == 0o100_755 { rights.exec } else { rights.plain };
        let mode = self.odd.get(item.path.as_slice()).copied().unwrap_or(usual);
        // Made for the user alone first: a file that was private must not be open for a moment.
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode & 0o700 | 0o600)
            .open(path)
            .about(path)?;
        io::copy(content, &mut file).about(path)?;
        if mode != mode & 0o700 | 0o600 {
            file.set_permissions(Permissions::from_mode(mode)).about(path)?;
        }
        Ok(file)
    }

    /// Makes a folder and those above it.
    fn folder(&mut self, folder: &[u8]) -> Result<(), SnapshotFault> {
        if folder.is_empty() {
            return Ok(());
        }
        let path = below(self.to, folder);
        match fs::create_dir(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.folder(parent(folder))?;
                fs::create_dir(&path).about(&path)?;
            }
            Err(error) => return Err(error).about(&path),
        }
        self.folders.push(folder.to_vec());
        Ok(())
    }
}
