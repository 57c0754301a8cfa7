//! A throw-away repository beside the real one. Git writes a snapshot's objects here, where no
//! setting of the user's repository is read and nothing of theirs can be hurt; only finished packs
//! are moved over. What a kill leaves behind is known to be ours by where it is.

use crate::fault::{About as _, SnapshotFault};
use crate::git::offline;
use crate::hash::Format;
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Where everything of ours is in a repository's own folder.
pub(crate) const HOME: &str = "glis";
/// How the names of our throw-away repositories begin.
pub(crate) const PREFIX: &str = "tmp-";
/// The file that is locked as long as a save works in the folder.
pub(crate) const ALIVE: &str = "alive";

/// One throw-away repository. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: PathBuf,
    common: PathBuf,
    alive: File,
}

impl Scratch {
    /// Makes one that sees the objects of the repository at `common` and those in `more`.
    pub(crate) fn create(
        common: &Path,
        format: Format,
        more: &[PathBuf],
    ) -> Result<Self, SnapshotFault> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let nanos = now_ns() % 1_000_000_000;
        let name = format!("{PREFIX}{}-{number}-{nanos}", std::process::id());
        let dir = common.join(HOME).join(name);
        fs::create_dir_all(common.join(HOME)).about(&dir)?;
        fs::create_dir(&dir).about(&dir)?;
        let made = fill(&dir, format, more);
        let alive = match made {
            Ok(alive) => alive,
            Err(error) => {
                drop(fs::remove_dir_all(&dir));
                return Err(error).about(&dir);
            }
        };
        Ok(Self { dir, common: common.to_owned(), alive })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    /// A call of git in the throw-away repository. It reads no setting but ours.
    pub(crate) fn git(&self) -> Command {
        let mut command = offline(&self.dir);
        command.env("GIT_DIR", &self.dir).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
    }

    /// The lock, for a child to hold as well: it may live a moment longer than we do.
    pub(crate) fn alive(&self) -> Result<File, SnapshotFault> {
        self.alive.try_clone().about(&self.dir)
    }

    /// Moves the finished packs to the real repository and makes them durable there. Until the ref
    /// is there, too, a `.keep` beside each keeps a `gc` that runs at this moment from taking it for
    /// garbage.
    pub(crate) fn publish(&self, keeps: &Keeps) -> Result<(), SnapshotFault> {
        let from = self.dir.join("objects/pack");
        let to = self.common.join("objects/pack");
        let mut names = Vec::new();
        for entry in fs::read_dir(&from).about(&from)? {
            names.push(entry.about(&from)?.file_name());
        }
        // Git finds a pack by its index, so the index goes last.
        names.retain(|name| !name.as_bytes().ends_with(b".keep"));
        names.sort_by_key(|name| name.as_bytes().ends_with(b".idx"));
        if names.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&to).about(&to)?;
        for name in names.iter().filter(|name| name.as_bytes().ends_with(b".pack")) {
            // Written here and moved: an empty one there could not be told from another's.
            let made = from.join(name).with_extension("keep");
            fs::write(&made, KEEP_TEXT).about(&made)?;
            let path = to.join(name).with_extension("keep");
            shift(&made, &path).about(&path)?;
            keeps.add(path);
        }
        for name in names {
            shift(&from.join(&name), &to.join(&name)).about(&to)?;
        }
        sync_dir(&to)?;
        sync_dir(&self.common.join("objects"))
    }
}

/// What the `.keep` files of ours say, so that no other program's is ever removed.
pub(crate) const KEEP_TEXT: &[u8] = b"glis is saving\n";

/// The `.keep` files that stand while a snapshot is written. They go when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Keeps(Mutex<Vec<PathBuf>>);

impl Keeps {
    fn add(&self, path: PathBuf) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }
}

impl Keeps {
    /// Takes the marks away: the packs are in use now, or garbage.
    pub(crate) fn release(&self) {
        for path in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // What cannot be removed now is removed by the next sweep.
            drop(fs::remove_file(path));
        }
    }
}

impl Drop for Keeps {
    fn drop(&mut self) {
        self.release();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next sweep.
        drop(fs::remove_dir_all(&self.dir));
    }
}

fn fill(dir: &Path, format: Format, more: &[PathBuf]) -> io::Result<File> {
    let alive = File::create_new(dir.join(ALIVE))?;
    rustix::fs::flock(&alive, FlockOperation::NonBlockingLockExclusive)?;
    for folder in ["objects/info", "objects/pack", "refs"] {
        fs::create_dir_all(dir.join(folder))?;
    }
    fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")?;
    let settings = match format {
        Format::Sha1 => "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
        Format::Sha256 => {
            "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
        }
    };
    fs::write(dir.join("config"), settings)?;
    // Seen from our own `objects`; the path of the repository may hold what this file cannot.
    let mut alternates = b"../../../objects\n".to_vec();
    for objects in more {
        alternates.extend(crate::quote::quoted(objects.as_os_str().as_bytes()));
        alternates.push(b'\n');
    }
    fs::write(dir.join("objects/info/alternates"), alternates)?;
    Ok(alive)
}

/// Renames, or copies where the two are on different file systems.
fn shift(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let mut name = to.file_name().unwrap_or_default().to_owned();
            name.push(".glis");
            let half = to.with_file_name(name);
            fs::copy(from, &half)?;
            File::open(&half)?.sync_all()?;
            fs::rename(&half, to)
        }
        done => done,
    }
}

/// What all worktrees of the repository share.
pub(crate) fn common_of(repo: &Path) -> Result<PathBuf, SnapshotFault> {
    let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
    let said = crate::git::run(repo, &args)?;
    Ok(PathBuf::from(said))
}

/// Makes the names in a folder durable; git syncs its files but not their folders.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), SnapshotFault> {
    File::open(dir).and_then(|dir| dir.sync_all()).about(dir)
}

/// Writes a small file so that it is there as a whole, or not at all, even after a power cut.
pub(crate) fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), SnapshotFault> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    let lock = path.with_file_name(name);
    let mut file = File::create_new(&lock).about(&lock)?;
    // What others could read they can still read.
    let before = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    let done = before.map_or(Ok(()), |meta| file.set_permissions(meta.permissions()));
    let done = done.and_then(|()| file.write_all(bytes)).and_then(|()| file.sync_all());
    if let Err(error) = done.and_then(|()| fs::rename(&lock, path)) {
        drop(fs::remove_file(&lock));
        return Err(error).about(path);
    }
    path.parent().map_or(Ok(()), sync_dir)
}

/// The time on the wall, in nanoseconds: comparable with what the file system writes.
pub(crate) fn now_ns() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}
