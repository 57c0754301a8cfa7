//! Writing a snapshot's objects: one `git fast-import` into a throw-away repository, one pack.

use crate::fault::{SnapshotFault, said_by_git, said_by_system};
use crate::git::GitFault;
use crate::hash::{Format, Oid};
use crate::index::{Entry, Index, KnownTree};
use crate::quote::quoted;
use crate::scratch::Scratch;
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::thread::JoinHandle;

/// Above this git writes a blob through instead of holding it in memory.
const WRITE_THROUGH_BYTES: &str = "8m";
/// Pieces in which a large file goes through us.
const PIECE_BYTES: usize = 256 * 1024;

/// An import that starts with the first thing it gets: when nothing has changed, git is not run.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) common: PathBuf,
    pub(crate) format: Format,
    /// Objects of other repositories that the snapshot may speak of.
    pub(crate) more: Vec<PathBuf>,
    running: Option<Import>,
}

impl Writer {
    pub(crate) fn new(common: &Path, format: Format, more: Vec<PathBuf>) -> Self {
        Self { common: common.to_owned(), format, more, running: None }
    }

    pub(crate) fn import(&mut self) -> Result<&mut Import, SnapshotFault> {
        if self.running.is_none() {
            let scratch = Scratch::create(&self.common, self.format, &self.more)?;
            self.running = Some(Import::start(scratch)?);
        }
        let none = || SnapshotFault::Broken("git fast-import is not running".to_owned());
        self.running.as_mut().ok_or_else(none)
    }

    /// Writes the commit. The objects are in the throw-away repository that is returned.
    pub(crate) fn finish(mut self, commit: &Commit) -> Result<(Oid, Scratch), SnapshotFault> {
        self.import()?.finish(commit)
    }
}

#[derive(Debug)]
pub(crate) struct Import {
    scratch: Option<Scratch>,
    child: Child,
    pipe: Option<BufWriter<ChildStdin>>,
    said: Option<JoinHandle<String>>,
}

/// What the snapshot's commit is made of, besides the blobs that were sent before.
#[derive(Debug, Default)]
pub(crate) struct Commit {
    pub(crate) message: String,
    pub(crate) secs: i64,
    pub(crate) parents: Vec<Oid>,
    /// Lines in fast-import's language that build the tree.
    pub(crate) lines: Vec<u8>,
}

impl Import {
    fn start(scratch: Scratch) -> Result<Self, SnapshotFault> {
        let mut command = scratch.git();
        // The disk is cheaper than the user's time: level 1 takes half the time of the default.
        command.args(["-c", "core.compression=1", "-c", "fastimport.unpackLimit=0"]);
        command.args(["-c", "core.protectHFS=false", "-c", "core.protectNTFS=false"]);
        command.args(["-c", &format!("core.bigFileThreshold={WRITE_THROUGH_BYTES}")]);
        // A blob has nothing in common with the one sent before it; looking for it takes time.
        command.args(["fast-import", "--quiet", "--done", "--date-format=raw", "--depth=0"]);
        command.arg(format!("--export-marks={}", marks(&scratch).display()));
        // Standard output carries the lock of the throw-away repository, see `Scratch::alive`.
        command.stdin(Stdio::piped()).stdout(scratch.alive()?).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitFault::NotRun)?;
        let pipe = child.stdin.take().map(|pipe| BufWriter::with_capacity(PIECE_BYTES, pipe));
        let said = child.stderr.take().map(|mut stream| {
            crate::threads::begin(move || {
                let mut text = Vec::new();
                drop(stream.read_to_end(&mut text));
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        let said = said.transpose().inspect_err(|_| {
            drop(child.kill());
            drop(child.wait());
        })?;
        Ok(Self { scratch: Some(scratch), child, pipe, said })
    }

    /// Sends a blob that is in memory.
    pub(crate) fn blob(&mut self, bytes: &[u8]) -> Result<(), SnapshotFault> {
        let head = format!("blob\ndata {}\n", bytes.len());
        self.send(&[head.as_bytes(), bytes, b"\n"])
    }

    /// Sends `len` bytes of `from`, and zeros for those that it turns out not to have. Returns how
    /// many it had. A blob with such zeros must not be used; the caller reads the file again.
    pub(crate) fn stream(&mut self, from: &mut dyn Read, len: u64) -> Result<u64, SnapshotFault> {
        self.send(&[format!("blob\ndata {len}\n").as_bytes()])?;
        let mut piece = vec![0; PIECE_BYTES];
        let mut had = 0;
        while had < len {
            let most = usize::try_from(len - had).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
            match from.read(&mut piece[..most]) {
                Ok(0) | Err(_) => break,
                Ok(got) => {
                    self.send(&[&piece[..got]])?;
                    had += got as u64;
                }
            }
        }
        piece.fill(0);
        let mut missing = len - had;
        while missing > 0 {
            let most = usize::try_from(missing).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
            self.send(&[&piece[..most]])?;
            missing -= most as u64;
        }
        self.send(&[b"\n"])?;
        Ok(had)
    }

    /// Sends the commit, waits until git has written and synced everything, and returns its name.
    fn finish(&mut self, commit: &Commit) -> Result<(Oid, Scratch), SnapshotFault> {
        let mut head = format!(
            "commit refs/heads/snapshot\nmark :1\ncommitter glis <glis@localhost> {} +0000\ndata {}\n{}\n",
            commit.secs,
            commit.message.len(),
            commit.message
        );
        for parent in &commit.parents {
            head.push_str("merge ");
            head.push_str(&parent.to_string());
            head.push('\n');
        }
        self.send(&[head.as_bytes(), &commit.lines, b"\ndone\n"])?;
        let closed = self.pipe.take().map_or(Ok(()), |mut pipe| pipe.flush());
        self.ended(closed)?;
        let scratch = self.scratch.take().ok_or_else(ended_early)?;
        let marks = std::fs::read_to_string(marks(&scratch)).unwrap_or_default();
        let name =
            marks.trim_end().strip_prefix(":1 ").and_then(|hex| Oid::from_hex(hex.as_bytes()));
        Ok((name.ok_or_else(ended_early)?, scratch))
    }

    fn send(&mut self, parts: &[&[u8]]) -> Result<(), SnapshotFault> {
        let Some(pipe) = self.pipe.as_mut() else {
            return Err(ended_early());
        };
        let sent = parts.iter().try_for_each(|part| pipe.write_all(part));
        match sent {
            Ok(()) => Ok(()),
            Err(error) => {
                drop(self.pipe.take().map(BufWriter::into_parts));
                self.ended(Err(error))
            }
        }
    }

    /// Waits for git, and says what it said if it or the pipe to it failed.
    fn ended(&mut self, sent: io::Result<()>) -> Result<(), SnapshotFault> {
        let status = self.child.wait().map_err(GitFault::NotRun)?;
        let said = self.said.take().and_then(|said| said.join().ok()).unwrap_or_default();
        match sent {
            Ok(()) if status.success() => Ok(()),
            Err(error) if said.is_empty() => {
                Err(said_by_system(Path::new("git fast-import"), error))
            }
            _ => Err(said_by_git("fast-import", &said)),
        }
    }
}

impl Drop for Import {
    fn drop(&mut self) {
        // Given up half-way: without `done`, git publishes nothing.
        drop(self.pipe.take().map(BufWriter::into_parts));
        drop(self.child.wait());
    }
}

fn ended_early() -> SnapshotFault {
    SnapshotFault::Broken("git fast-import ended early".to_owned())
}

fn marks(scratch: &Scratch) -> PathBuf {
    scratch.path().join("marks")
}

/// Adds a line that puts an object at a path.
pub(crate) fn put(lines: &mut Vec<u8>, mode: u32, oid: &Oid, path: &[&[u8]]) {
    lines.extend(format!("M {mode:06o} {oid} ").bytes());
    lines.extend(quoted(&path.concat()));
    lines.push(b'\n');
}

/// Adds lines that put a small file at a path.
pub(crate) fn put_bytes(lines: &mut Vec<u8>, path: &[&[u8]], bytes: &[u8]) {
    lines.extend(b"M 100644 inline ");
    lines.extend(quoted(&path.concat()));
    lines.extend(format!("\ndata {}\n", bytes.len()).bytes());
    lines.extend_from_slice(bytes);
    lines.push(b'\n');
}

/// Adds a line that takes a path away.
pub(crate) fn take(lines: &mut Vec<u8>, path: &[&[u8]]) {
    lines.extend(b"D ");
    lines.extend(quoted(&path.concat()));
    lines.push(b'\n');
}

/// Adds everything that is staged: as `staged`, and again as `worktree`, where the files on the
/// disk then take the place of what differs. Conflicts go to `unmerged/<stage>`.
pub(crate) fn put_index(lines: &mut Vec<u8>, index: &Index) {
    let before = lines.len();
    put_tree(lines, b"", index.tree.as_ref(), &index.entries);
    if lines.len() > before {
        lines.extend(b"C staged worktree\n");
    }
    for entry in index.entries.iter().filter(|entry| entry.stage > 0) {
        let stage = [b'0' + entry.stage];
        put(lines, entry.mode, &entry.oid, &[b"unmerged/", &stage, b"/", &entry.path]);
    }
    for (mode, oid) in &index.undo {
        put(lines, *mode, oid, &[b"undo/", oid.to_string().as_bytes()]);
    }
}

/// Trees that the index knows to be written are taken as a whole; that is what makes a snapshot of
/// a large repository cheap.
fn put_tree(lines: &mut Vec<u8>, prefix: &[u8], known: Option<&KnownTree>, entries: &[Entry]) {
    if let Some(oid) = known.and_then(|tree| tree.oid)
        && !entries.is_empty()
    {
        let prefix = prefix.strip_suffix(b"/").unwrap_or(prefix);
        let slash: &[u8] = if prefix.is_empty() { b"" } else { b"/" };
        put(lines, 0o040_000, &oid, &[b"staged", slash, prefix]);
        return;
    }
    let mut rest = entries;
    while let Some(first) = rest.first() {
        let below = first.path.get(prefix.len()..).unwrap_or_default();
        let slash = below.iter().position(|byte| *byte == b'/');
        // A sparse index holds whole folders, with a slash at the end.
        let Some(slash) = slash.filter(|at| at + 1 < below.len()) else {
            let path = first.path.strip_suffix(b"/").unwrap_or(&first.path);
            if first.stage == 0 && !first.flags.intent_to_add {
                put(lines, first.mode, &first.oid, &[b"staged/", path]);
            }
            rest = &rest[1..];
            continue;
        };
        let folder = &first.path[..=prefix.len() + slash];
        let len = rest.partition_point(|entry| entry.path.starts_with(folder));
        let name = &below[..slash];
        let tree = known.and_then(|tree| tree.below.iter().find(|tree| tree.name == name));
        put_tree(lines, folder, tree, &rest[..len]);
        rest = &rest[len..];
    }
}
