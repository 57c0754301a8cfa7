//! A walk through the files of a worktree, by several threads: what is there, and whether git knows
//! it. Only names and numbers are read here; no file is opened, so none can block or bite.

use crate::fault::{About as _, SnapshotFault};
use crate::index::{Index, Stat};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

/// More threads than this wait for each other inside the kernel's name cache.
const THREADS_MAX: usize = 4;

/// The tracked names, for questions about one of them.
pub(crate) struct Known<'a> {
    index: &'a Index,
    /// The first entry of each path.
    paths: HashMap<&'a [u8], usize>,
    folders: HashSet<&'a [u8]>,
}

impl<'a> Known<'a> {
    pub(crate) fn new(index: &'a Index) -> Self {
        let mut paths = HashMap::with_capacity(index.entries.len());
        let mut folders: HashSet<&[u8]> = HashSet::new();
        let mut before: &[u8] = b"";
        for (at, entry) in index.entries.iter().enumerate() {
            paths.entry(entry.path.as_slice()).or_insert(at);
            let folder = parent(&entry.path);
            if folder != before {
                before = folder;
                let mut folder = folder;
                while !folder.is_empty() && folders.insert(folder) {
                    folder = parent(folder);
                }
            }
        }
        Self { index, paths, folders }
    }

    pub(crate) fn entries(&self) -> &'a [crate::index::Entry] {
        &self.index.entries
    }

    pub(crate) fn entry(&self, path: &[u8]) -> Option<usize> {
        self.paths.get(path).copied()
    }
}

/// The folder part of a path; empty at the top.
pub(crate) fn parent(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(b"", |at| &path[..at])
}

#[derive(Debug, Default)]
pub(crate) struct Met {
    /// Tracked files that are there, by the number of their first entry.
    pub(crate) tracked: Vec<(usize, Stat)>,
    /// Names that git does not track.
    pub(crate) strangers: Vec<Stranger>,
    /// Folders that hold a repository of their own.
    pub(crate) nested: Vec<Vec<u8>>,
    /// A `.git` that leads nowhere, or among files that the outer repository tracks.
    pub(crate) lost_git: Vec<Vec<u8>>,
    /// Folders with nothing in them.
    pub(crate) empty: Vec<(Vec<u8>, u32)>,
    /// The rights of each folder; the top has no name.
    pub(crate) folders: Vec<(Vec<u8>, u32)>,
    /// Folders that could not be read.
    pub(crate) unreadable: Vec<(Vec<u8>, std::io::Error)>,
}

/// A name that git does not track.
#[derive(Debug)]
pub(crate) struct Stranger {
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
}

impl Stranger {
    pub(crate) fn is_folder(&self) -> bool {
        self.stat.mode & 0o170_000 == 0o040_000
    }
}

/// The top of the worktree, opened once.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    path: PathBuf,
}

impl Root {
    pub(crate) fn open(path: &Path) -> Result<Self, SnapshotFault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).about(path)?;
        Ok(Self { fd, path: path.to_owned() })
    }

    /// Opens something below the top without ever following a link: an agent may put one in place
    /// of a folder at any moment.
    fn open_below(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        crate::task::step();
        let path = if path.is_empty() { b"." } else { path };
        let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let strict = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), strict) {
            // Kernels before 5.6 and some sandboxes do not have the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                rustix::fs::openat(&self.fd, path, flags, Mode::empty())
            }
            other => other,
        }
    }

    pub(crate) fn open_file(&self, path: &[u8]) -> Result<File, Errno> {
        self.open_below(path, OFlags::empty()).map(File::from)
    }

    pub(crate) fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        rustix::fs::readlinkat(&self.fd, path, Vec::new()).map(std::ffi::CString::into_bytes)
    }

    pub(crate) fn stat(&self, path: &[u8]) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.fd, path, AtFlags::SYMLINK_NOFOLLOW).map(|stat| from_system(&stat))
    }

    /// Walks the folders in `from` and all tracked folders below them.
    pub(crate) fn walk(&self, known: &Known<'_>, from: Vec<Vec<u8>>) -> Result<Met, SnapshotFault> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let queue = Queue { open: Mutex::new((from, 0)), changed: Condvar::new() };
        let parts = std::thread::scope(|scope| {
            let work = || {
                let mut met = Met::default();
                let mut buffer = Vec::with_capacity(32 * 1024);
                while let Some(folder) = queue.next() {
                    let below = self.list(known, &folder, &mut met, &mut buffer);
                    queue.done(below);
                }
                met
            };
            // With fewer helpers than wanted it only takes longer.
            let begin = |_| crate::threads::within(scope, work).ok();
            let workers: Vec<_> = (1..threads).filter_map(begin).collect();
            let mut parts = vec![work()];
            for worker in workers {
                parts.push(worker.join().map_err(|_| Errno::IO)?);
            }
            Ok::<_, Errno>(parts)
        });
        let mut all = Met::default();
        for mut part in parts.about(&self.path)? {
            all.tracked.append(&mut part.tracked);
            all.strangers.append(&mut part.strangers);
            all.nested.append(&mut part.nested);
            all.lost_git.append(&mut part.lost_git);
            all.empty.append(&mut part.empty);
            all.folders.append(&mut part.folders);
            all.unreadable.append(&mut part.unreadable);
        }
        Ok(all)
    }

    /// Says whether the `.git` in a folder leads to a repository, as git itself would find it.
    fn is_repository(&self, folder: &[u8]) -> bool {
        let path = self.path.join(OsStr::from_bytes(folder));
        let git = path.join(".git");
        let is_file = std::fs::symlink_metadata(&git).is_ok_and(|meta| meta.is_file());
        let git_dir = if is_file {
            let text = std::fs::read(&git).unwrap_or_default();
            let to = text.strip_prefix(b"gitdir: ").unwrap_or_default().trim_ascii_end();
            path.join(OsStr::from_bytes(to))
        } else {
            git
        };
        git_dir.join("HEAD").symlink_metadata().is_ok()
            && (git_dir.join("objects").is_dir() || git_dir.join("commondir").is_file())
    }

    /// Lists one folder and returns the folders below it that are to be listed too.
    fn list(
        &self,
        known: &Known<'_>,
        folder: &[u8],
        met: &mut Met,
        buffer: &mut Vec<u8>,
    ) -> Vec<Vec<u8>> {
        let mut below = Vec::new();
        let fd = match self.open_below(folder, OFlags::DIRECTORY) {
            Ok(fd) => fd,
            // It went away between its parent's listing and now, and that is a state like any other.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return below,
            Err(errno) => {
                met.unreadable.push((folder.to_vec(), errno.into()));
                return below;
            }
        };
        let mut names = Vec::new();
        let space: &mut [MaybeUninit<u8>] = buffer.spare_capacity_mut();
        let mut listing = RawDir::new(&fd, space);
        while let Some(entry) = listing.next() {
            match entry {
                Ok(entry) => {
                    let name = entry.file_name().to_bytes();
                    if name != b"." && name != b".." {
                        names.push((name.to_vec(), entry.file_type()));
                    }
                }
                Err(errno) => {
                    met.unreadable.push((folder.to_vec(), errno.into()));
                    break;
                }
            }
        }
        let mode = rustix::fs::fstat(&fd).map_or(0o755, |stat| stat.st_mode & 0o7777);
        met.folders.push((folder.to_vec(), mode));
        if !folder.is_empty() {
            if names.is_empty() {
                met.empty.push((folder.to_vec(), mode));
            }
            if names.iter().any(|(name, _)| name == b".git") {
                // A repository inside the repository is saved as one, not as a heap of files.
                if !known.folders.contains(folder) && self.is_repository(folder) {
                    met.nested.push(folder.to_vec());
                    return below;
                }
                met.lost_git.push([folder, b"/.git"].concat());
            }
        }
        for (name, kind) in names {
            if name == b".git" {
                continue;
            }
            let path =
                if folder.is_empty() { name.clone() } else { [folder, b"/", &name].concat() };
            if kind == FileType::Directory && known.folders.contains(path.as_slice()) {
                below.push(path);
                continue;
            }
            let Ok(stat) = rustix::fs::statat(&fd, &name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            sort(known, path, from_system(&stat), met, &mut below);
        }
        below
    }
}

/// Puts one name where it belongs.
fn sort(known: &Known<'_>, path: Vec<u8>, stat: Stat, met: &mut Met, below: &mut Vec<Vec<u8>>) {
    let is_folder = stat.mode & 0o170_000 == 0o040_000;
    match known.entry(&path) {
        Some(at) if is_folder && known.index.entries[at].is_link() => {
            met.tracked.push((at, stat));
            // With a `.git` inside it is a submodule; without one, whatever lies there is listed.
            below.push(path);
        }
        Some(at) if !is_folder => met.tracked.push((at, stat)),
        _ if is_folder && known.folders.contains(path.as_slice()) => below.push(path),
        _ => met.strangers.push(Stranger { path, stat }),
    }
}

pub(crate) fn from_system(stat: &rustix::fs::Stat) -> Stat {
    let ns = |sec: i64, nsec: u64| {
        sec.saturating_mul(1_000_000_000).saturating_add(i64::try_from(nsec).unwrap_or_default())
    };
    Stat {
        mode: stat.st_mode,
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        mtime_ns: ns(stat.st_mtime, stat.st_mtime_nsec),
        ctime_ns: ns(stat.st_ctime, stat.st_ctime_nsec),
        ino: stat.st_ino,
        uid: stat.st_uid,
        gid: stat.st_gid,
    }
}

/// Folders that wait to be listed, and how many are being listed.
struct Queue {
    open: Mutex<(Vec<Vec<u8>>, usize)>,
    changed: Condvar,
}

impl Queue {
    fn next(&self) -> Option<Vec<u8>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(folder) = open.0.pop() {
                open.1 += 1;
                return Some(folder);
            }
            if open.1 == 0 {
                return None;
            }
            open = self.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self, below: Vec<Vec<u8>>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.0.extend(below);
        open.1 -= 1;
        drop(open);
        self.changed.notify_all();
    }
}
