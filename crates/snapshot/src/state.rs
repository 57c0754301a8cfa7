//! What a snapshot knows besides trees: the `state` and `not-captured` files in its commit.
//!
//! Records end with a zero byte, fields with a space; the path is last, as raw bytes.

use crate::hash::Oid;
use crate::index::Stat;
use crate::place::Head;
use crate::rights::Umask;
use std::fmt::Write as _;

/// The first record. A later form that this one cannot be read as gets another number.
const FORM: &str = "glis-state 1";

/// How a file on the disk stands to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its bytes or its mode differ.
    Changed,
    /// Git calls it unchanged, but only after a conversion: the bytes on the disk are others.
    Converted,
    /// Git does not track it.
    Untracked,
    /// It is the same, though its times are not what the index remembers.
    Same,
}

/// A file whose bytes the snapshot holds by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) kind: Kind,
    pub(crate) stat: Stat,
    pub(crate) oid: Oid,
    pub(crate) path: Vec<u8>,
}

/// A repository inside the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nested {
    /// The snapshot of it, a parent of this one.
    pub(crate) commit: Oid,
    /// Where its own files are, seen from the outer worktree's own; empty if they are inside it.
    pub(crate) git_dir: Vec<u8>,
    pub(crate) path: Vec<u8>,
}

/// What most files of the worktree may be done with, so that only the others are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rights {
    pub(crate) plain: u32,
    pub(crate) exec: u32,
    pub(crate) folder: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// When the walk began. What is younger is not trusted by its times.
    pub(crate) clock_ns: i64,
    pub(crate) head: Head,
    /// Branches that an operation in progress wants to come back to.
    pub(crate) branches: Vec<(String, Oid)>,
    pub(crate) rights: Rights,
    /// Files and folders with other rights. The top has no name; `.git` is among them.
    pub(crate) odd_rights: Vec<(Vec<u8>, u32)>,
    pub(crate) kept: Vec<Kept>,
    /// Tracked, and not on the disk.
    pub(crate) gone: Vec<Vec<u8>>,
    pub(crate) empty: Vec<(Vec<u8>, u32)>,
    pub(crate) nested: Vec<Nested>,
    /// Names that a git tree cannot hold; the n-th is stored as `odd/n`.
    pub(crate) odd_names: Vec<(Oid, Vec<u8>)>,
}

impl State {
    /// What may be done with a folder.
    pub(crate) fn folder_rights(&self, path: &[u8]) -> u32 {
        let odd = self.odd_rights.iter().find(|(odd, _)| odd == path);
        odd.map_or(self.rights.folder, |(_, mode)| *mode)
    }

    /// What may be done with the worktree's `.git`, if that is a file.
    pub(crate) fn git_file_rights(&self) -> u32 {
        let odd = self.odd_rights.iter().find(|(odd, _)| odd == b".git");
        // It may have been a folder: the main worktree comes back as another one.
        odd.map_or(self.rights.plain, |(_, mode)| *mode) & 0o666
    }

    /// The umask under which the worktree was made, as far as its folders tell.
    pub(crate) fn umask(&self) -> Umask {
        Umask::of_folder(self.rights.folder)
    }

    /// The bytes of the `state` file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Records::default();
        out.add(FORM, b"");
        out.add(&format!("clock {}", self.clock_ns), b"");
        self.lasting(&mut out);
        for kept in &self.kept {
            let stat = &kept.stat;
            let letter = match kept.kind {
                Kind::Changed => 'M',
                Kind::Converted => 'R',
                Kind::Untracked => 'U',
                Kind::Same => 'S',
            };
            let mut line = format!("file {letter} {:o} {}", stat.mode, kept.oid);
            let _ = write!(line, " {} {} ", stat.size, stat.mtime_ns);
            let _ = write!(line, "{} {} ", stat.ctime_ns, stat.ino);
            out.add(&line, &kept.path);
        }
        out.0
    }

    /// What two states must have in common to be the same: everything but the times.
    pub(crate) fn essence(&self) -> Vec<u8> {
        let mut out = Records::default();
        self.lasting(&mut out);
        for kept in self.kept.iter().filter(|kept| kept.kind != Kind::Same) {
            out.add(&format!("{:o} {} ", kept.stat.mode, kept.oid), &kept.path);
        }
        out.0
    }

    fn lasting(&self, out: &mut Records) {
        let commit = self.head.commit.map_or_else(|| "-".to_owned(), |oid| oid.to_string());
        out.add(&format!("head {commit} "), self.head.branch.as_deref().unwrap_or("").as_bytes());
        for (name, oid) in &self.branches {
            out.add(&format!("branch {oid} "), name.as_bytes());
        }
        let Rights { plain, exec, folder } = self.rights;
        out.add(&format!("rights {plain:o} {exec:o} {folder:o}"), b"");
        for (path, mode) in &self.odd_rights {
            out.add(&format!("mode {mode:o} "), path);
        }
        for path in &self.gone {
            out.add("gone ", path);
        }
        for (path, mode) in &self.empty {
            out.add(&format!("empty {mode:o} "), path);
        }
        for nested in &self.nested {
            let mut git_dir = String::new();
            for byte in &nested.git_dir {
                let _ = write!(git_dir, "{byte:02x}");
            }
            out.add(&format!("nested {} {git_dir}. ", nested.commit), &nested.path);
        }
        for (oid, path) in &self.odd_names {
            out.add(&format!("odd {oid} "), path);
        }
    }

    /// Understands a `state` file; `None` if it is damaged or from another time.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut records = bytes.split(|byte| *byte == 0);
        if records.next()? != FORM.as_bytes() {
            return None;
        }
        let mut state = Self {
            clock_ns: 0,
            head: Head { branch: None, commit: None },
            branches: Vec::new(),
            rights: Rights { plain: 0o644, exec: 0o755, folder: 0o755 },
            odd_rights: Vec::new(),
            kept: Vec::new(),
            gone: Vec::new(),
            empty: Vec::new(),
            nested: Vec::new(),
            odd_names: Vec::new(),
        };
        for record in records.filter(|record| !record.is_empty()) {
            state.take(&mut Fields(record))?;
        }
        Some(state)
    }

    fn take(&mut self, at: &mut Fields<'_>) -> Option<()> {
        match at.word()? {
            b"clock" => self.clock_ns = at.number()?,
            b"head" => {
                let commit = Oid::from_hex(at.word()?);
                let branch = String::from_utf8_lossy(at.0).into_owned();
                self.head = Head { commit, branch: Some(branch).filter(|name| !name.is_empty()) };
            }
            b"branch" => {
                let oid = at.oid()?;
                self.branches.push((String::from_utf8_lossy(at.0).into_owned(), oid));
            }
            b"rights" => {
                let (plain, exec, folder) = (at.mode()?, at.mode()?, at.mode()?);
                self.rights = Rights { plain, exec, folder };
            }
            b"mode" => {
                let mode = at.mode()?;
                self.odd_rights.push((at.0.to_vec(), mode));
            }
            b"gone" => self.gone.push(at.0.to_vec()),
            b"empty" => {
                let mode = at.mode()?;
                self.empty.push((at.0.to_vec(), mode));
            }
            b"nested" => {
                let commit = at.oid()?;
                let hex = at.word()?.strip_suffix(b".")?;
                let git_dir = hex
                    .chunks(2)
                    .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
                let git_dir = git_dir.collect::<Option<_>>()?;
                self.nested.push(Nested { commit, git_dir, path: at.0.to_vec() });
            }
            b"odd" => {
                let oid = at.oid()?;
                self.odd_names.push((oid, at.0.to_vec()));
            }
            b"file" => self.kept.push(at.kept()?),
            _ => return None,
        }
        Some(())
    }
}

#[derive(Default)]
struct Records(Vec<u8>);

impl Records {
    fn add(&mut self, fields: &str, path: &[u8]) {
        self.0.extend_from_slice(fields.as_bytes());
        self.0.extend_from_slice(path);
        self.0.push(0);
    }
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn word(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.iter().position(|byte| *byte == b' ').unwrap_or(self.0.len());
        let word = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        Some(word)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        std::str::from_utf8(self.word()?).ok()?.parse().ok()
    }

    fn mode(&mut self) -> Option<u32> {
        u32::from_str_radix(std::str::from_utf8(self.word()?).ok()?, 8).ok()
    }

    fn oid(&mut self) -> Option<Oid> {
        Oid::from_hex(self.word()?)
    }

    fn kept(&mut self) -> Option<Kept> {
        let kind = match self.word()? {
            b"M" => Kind::Changed,
            b"R" => Kind::Converted,
            b"U" => Kind::Untracked,
            b"S" => Kind::Same,
            _ => return None,
        };
        let (mode, oid) = (self.mode()?, self.oid()?);
        let (size, mtime_ns, ctime_ns, ino) =
            (self.number()?, self.number()?, self.number()?, self.number()?);
        let stat = Stat { mode, size, mtime_ns, ctime_ns, ino, uid: 0, gid: 0 };
        Some(Kept { kind, stat, oid, path: self.0.to_vec() })
    }
}

/// Something in the worktree that the snapshot does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotCaptured {
    /// Where, seen from the worktree; bytes, as the system knows it.
    pub path: Vec<u8>,
    pub why: Why,
}

impl NotCaptured {
    /// The path for people's eyes.
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }
}

/// Why something is not in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Git ignores it. A folder stands for all that is in it.
    Ignored,
    /// It is larger than the limit.
    TooLarge { bytes: u64 },
    /// A pipe, a socket or a device: there are no bytes to keep.
    NotAFile,
    /// It is an empty folder. Git keeps none, but a restore makes it again.
    EmptyFolder,
    /// It could not be read.
    Unreadable,
    /// It was written to while it was read; the snapshot holds what one reading gave.
    Moving,
    /// A repository inside the worktree, or a part of one, that could not be taken along: what is missing, and why.
    Repository { what: String },
}

impl Why {
    /// The word that the snapshot keeps for it.
    fn to_word(&self) -> String {
        match self {
            Self::Ignored => "ignored".to_owned(),
            Self::TooLarge { bytes } => format!("large:{bytes}"),
            Self::NotAFile => "not-a-file".to_owned(),
            Self::EmptyFolder => "empty".to_owned(),
            Self::Unreadable => "unreadable".to_owned(),
            Self::Moving => "moving".to_owned(),
            Self::Repository { what } => format!("repository:{}", what.replace(' ', "_")),
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Some(match word.split_once(':') {
            Some(("large", bytes)) => Self::TooLarge { bytes: bytes.parse().ok()? },
            Some(("repository", what)) => Self::Repository { what: what.replace('_', " ") },
            Some(_) => return None,
            None => match word {
                "ignored" => Self::Ignored,
                "not-a-file" => Self::NotAFile,
                "empty" => Self::EmptyFolder,
                "unreadable" => Self::Unreadable,
                "moving" => Self::Moving,
                _ => return None,
            },
        })
    }
}

/// The bytes of the `not-captured` file.
pub(crate) fn list_to_bytes(list: &[NotCaptured]) -> Vec<u8> {
    let mut out = Records::default();
    for item in list {
        out.add(&format!("{} ", item.why.to_word()), &item.path);
    }
    out.0
}

/// Understands a `not-captured` file; what cannot be understood is left out.
pub(crate) fn list_from_bytes(bytes: &[u8]) -> Vec<NotCaptured> {
    let records = bytes.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    let read = records.filter_map(|record| {
        let mut at = Fields(record);
        let why = Why::from_word(std::str::from_utf8(at.word()?).ok()?)?;
        Some(NotCaptured { path: at.0.to_vec(), why })
    });
    read.collect()
}
