//! Git's index, read by ourselves: which files git knows, what they were when it last looked, and
//! what is staged. Reading it takes no lock and runs nothing.

use crate::hash::{Format, Hasher, Oid};

/// A file's type and rights, size and times, as far as a change of content shows in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stat {
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) mtime_ns: i64,
    pub(crate) ctime_ns: i64,
    pub(crate) ino: u64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// What the index remembers of a file. All numbers are cut to 32 bits, as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Remembered {
    ctime: (u32, u32),
    mtime: (u32, u32),
    ino: u32,
    uid: u32,
    gid: u32,
    size: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) oid: Oid,
    /// 0, or 1 to 3 for a path with a conflict.
    pub(crate) stage: u8,
    pub(crate) flags: Flags,
    remembered: Remembered,
    /// Where the remembered numbers begin in the file.
    at: usize,
}

/// What is special about an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) assume_unchanged: bool,
    pub(crate) skip_worktree: bool,
    pub(crate) intent_to_add: bool,
}

/// A tree that the index knows to be written already.
#[derive(Debug, Clone)]
pub(crate) struct KnownTree {
    pub(crate) name: Vec<u8>,
    /// `None` if an entry below it has changed.
    pub(crate) oid: Option<Oid>,
    pub(crate) below: Vec<Self>,
}

/// The index as it was in one moment.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) raw: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) tree: Option<KnownTree>,
    /// Blobs that a resolved conflict can be undone with.
    pub(crate) undo: Vec<(u32, Oid)>,
    /// Part of it is in another file; git has to put it together first.
    pub(crate) split: bool,
    /// The time of the file itself: an entry that is not older may have changed unseen.
    pub(crate) mtime_ns: i64,
    format: Format,
}

/// Why the bytes are no index.
#[derive(Debug, thiserror::Error)]
#[error("the index is damaged at byte {0}")]
pub(crate) struct Damaged(usize);

const SEC: i64 = 1_000_000_000;
/// The entry goes on with two more bytes of flags.
const EXTENDED: u16 = 0x4000;

impl Index {
    /// An index that holds nothing, as in a repository without one.
    pub(crate) fn empty(format: Format) -> Self {
        Self {
            raw: Vec::new(),
            entries: Vec::new(),
            tree: None,
            undo: Vec::new(),
            split: false,
            mtime_ns: 0,
            format,
        }
    }

    /// Understands the bytes of an index file.
    pub(crate) fn parse(raw: Vec<u8>, format: Format, mtime_ns: i64) -> Result<Self, Damaged> {
        let mut index = Self { mtime_ns, ..Self::empty(format) };
        let mut at = Cursor { raw: &raw, at: 0 };
        if at.take(4)? != b"DIRC" {
            return Err(Damaged(0));
        }
        let version = at.u32()?;
        if !(2..=4).contains(&version) {
            return Err(Damaged(4));
        }
        let count = at.u32()?;
        let mut before: Vec<u8> = Vec::new();
        for _ in 0..count {
            let entry = at.entry(version, format, &before)?;
            before.clone_from(&entry.path);
            index.entries.push(entry);
        }
        let end = raw.len().checked_sub(format.len()).ok_or(Damaged(raw.len()))?;
        while at.at + 8 <= end {
            let name: [u8; 4] = at.take(4)?.try_into().map_err(|_| Damaged(at.at))?;
            let len = at.u32()? as usize;
            let body = at.take(len)?;
            match &name {
                b"TREE" => {
                    index.tree = known_tree(&mut Cursor { raw: body, at: 0 }, format, 0).ok();
                }
                b"REUC" => index.undo = undo(&mut Cursor { raw: body, at: 0 }, format)?,
                b"link" => index.split = true,
                _ => {}
            }
        }
        index.raw = raw;
        Ok(index)
    }

    /// Puts the numbers of the files as they are now in place of the remembered ones, for the
    /// entries that `now` knows.
    pub(crate) fn refreshed(&self, mut now: impl FnMut(usize, &Entry) -> Option<Stat>) -> Vec<u8> {
        let mut raw = self.raw.clone();
        for (number, entry) in self.entries.iter().enumerate() {
            if let Some(stat) = now(number, entry)
                && let Some(place) = raw.get_mut(entry.at..entry.at + 40)
            {
                for (at, number) in stat.as_remembered() {
                    place[at..at + 4].copy_from_slice(&number.to_be_bytes());
                }
            }
        }
        let end = raw.len().saturating_sub(self.format.len());
        let mut hasher = Hasher::new(self.format);
        hasher.update(&raw[..end]);
        let sum = hasher.finish();
        // Some indexes carry no checksum, by the user's choice; they stay without.
        if raw[end..].iter().any(|byte| *byte != 0) {
            raw[end..].copy_from_slice(sum.as_bytes());
        }
        raw
    }

    /// The index without the numbers of files that are surely unchanged: a restored file gets new
    /// ones in any case, and without them an index is half as large and mostly the same as before.
    pub(crate) fn without_numbers_of(&self, clean: &[(usize, Stat)]) -> Vec<u8> {
        if self.raw.is_empty() {
            return Vec::new();
        }
        let mut is_clean = vec![false; self.entries.len()];
        for (number, _) in clean {
            is_clean[*number] = true;
        }
        self.refreshed(|number, _| is_clean[number].then(Stat::default))
    }

    /// Feeds everything that is staged, and nothing that only remembers the disk, to `hasher`.
    pub(crate) fn digest(&self, hasher: &mut Hasher) {
        for entry in &self.entries {
            let flags = u8::from(entry.flags.assume_unchanged)
                | u8::from(entry.flags.skip_worktree) << 1
                | u8::from(entry.flags.intent_to_add) << 2;
            hasher.update(&entry.path);
            hasher.update(&[0, entry.stage, flags]);
            hasher.update(&entry.mode.to_be_bytes());
            hasher.update(entry.oid.as_bytes());
        }
        for (_, oid) in &self.undo {
            hasher.update(oid.as_bytes());
        }
    }
}

impl Entry {
    pub(crate) fn is_link(&self) -> bool {
        self.mode == 0o160_000
    }

    /// Says whether a file of this length may be the one that git knows. A length of zero is what
    /// git writes for a file that it could not be sure of.
    pub(crate) fn may_have_size(&self, size: u64) -> bool {
        let was = self.remembered.size;
        was == 0 || u64::from(was) == size & u64::from(u32::MAX)
    }

    /// Says whether the file is surely what it was when git last looked.
    pub(crate) fn is_unchanged(&self, now: &Stat, index_mtime_ns: i64) -> bool {
        let was = &self.remembered;
        let cut = |ns: i64| {
            let sec = ns.div_euclid(SEC) & i64::from(u32::MAX);
            (u32::try_from(sec).unwrap_or_default(), u32::try_from(ns.rem_euclid(SEC)).unwrap_or(0))
        };
        let same = was.mtime == cut(now.mtime_ns)
            && was.ctime == cut(now.ctime_ns)
            && u64::from(was.ino) == now.ino & u64::from(u32::MAX)
            && u64::from(was.size) == now.size & u64::from(u32::MAX)
            && was.uid == now.uid
            && was.gid == now.gid
            && git_mode(now.mode) == self.mode;
        // Git calls such an entry racy: it could have been written again within one tick of the
        // clock after git looked.
        same && now.mtime_ns < index_mtime_ns && !self.flags.intent_to_add
    }
}

impl Stat {
    /// The numbers with their places in an entry. The device is left as it was: git does not look
    /// at it, and it changes from one start of the machine to the next.
    fn as_remembered(self) -> [(usize, u32); 8] {
        let low = |n: u64| u32::try_from(n & u64::from(u32::MAX)).unwrap_or_default();
        let sec =
            |ns: i64| u32::try_from(ns.div_euclid(SEC) & i64::from(u32::MAX)).unwrap_or_default();
        let rest = |ns: i64| u32::try_from(ns.rem_euclid(SEC)).unwrap_or_default();
        [
            (0, sec(self.ctime_ns)),
            (4, rest(self.ctime_ns)),
            (8, sec(self.mtime_ns)),
            (12, rest(self.mtime_ns)),
            (20, low(self.ino)),
            (28, self.uid),
            (32, self.gid),
            (36, low(self.size)),
        ]
    }
}

/// The mode that git would store for a file with this mode; 0 for what git cannot store.
pub(crate) fn git_mode(mode: u32) -> u32 {
    match mode & 0o170_000 {
        0o100_000 if mode & 0o100 != 0 => 0o100_755,
        0o100_000 => 0o100_644,
        0o120_000 => 0o120_000,
        0o040_000 => 0o160_000,
        _ => 0,
    }
}

struct Cursor<'a> {
    raw: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Damaged> {
        let end = self.at.checked_add(len).ok_or(Damaged(self.at))?;
        let taken = self.raw.get(self.at..end).ok_or(Damaged(self.at))?;
        self.at = end;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, Damaged> {
        let bytes = self.take(4)?.try_into().map_err(|_| Damaged(self.at))?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn u16(&mut self) -> Result<u16, Damaged> {
        let bytes = self.take(2)?.try_into().map_err(|_| Damaged(self.at))?;
        Ok(u16::from_be_bytes(bytes))
    }

    /// The bytes up to the next `end`, which is passed over.
    fn until(&mut self, end: u8) -> Result<&'a [u8], Damaged> {
        let rest = self.raw.get(self.at..).ok_or(Damaged(self.at))?;
        let len = rest.iter().position(|byte| *byte == end).ok_or(Damaged(self.at))?;
        let found = self.take(len)?;
        self.at += 1;
        Ok(found)
    }

    fn number(&mut self, end: u8, radix: u32) -> Result<i64, Damaged> {
        let at = self.at;
        let text = std::str::from_utf8(self.until(end)?).map_err(|_| Damaged(at))?;
        i64::from_str_radix(text, radix).map_err(|_| Damaged(at))
    }

    fn oid(&mut self, format: Format) -> Result<Oid, Damaged> {
        Oid::from_bytes(self.take(format.len())?).ok_or(Damaged(self.at))
    }

    fn entry(&mut self, version: u32, format: Format, before: &[u8]) -> Result<Entry, Damaged> {
        let start = self.at;
        let ctime = (self.u32()?, self.u32()?);
        let mtime = (self.u32()?, self.u32()?);
        let _device = self.u32()?;
        let ino = self.u32()?;
        let mode = self.u32()?;
        let (uid, gid, size) = (self.u32()?, self.u32()?, self.u32()?);
        let oid = self.oid(format)?;
        let flags = self.u16()?;
        let more = if flags & EXTENDED == 0 { 0 } else { self.u16()? };
        let path = if version == 4 {
            let cut = self.offset()?;
            let kept = before.len().checked_sub(cut).ok_or(Damaged(start))?;
            [before.get(..kept).unwrap_or_default(), self.until(0)?].concat()
        } else {
            let path = self.until(0)?.to_vec();
            // Entries are filled up with 1 to 8 zeros to a multiple of eight; one is taken.
            let len = self.at - start;
            self.take(len.next_multiple_of(8) - len)?;
            path
        };
        Ok(Entry {
            path,
            mode,
            oid,
            stage: u8::try_from(flags >> 12 & 3).unwrap_or_default(),
            flags: Flags {
                assume_unchanged: flags & 0x8000 != 0,
                skip_worktree: more & 0x4000 != 0,
                intent_to_add: more & 0x2000 != 0,
            },
            remembered: Remembered { ctime, mtime, ino, uid, gid, size },
            at: start,
        })
    }

    /// The number form of pack files: seven bits a byte, each step counting from one more.
    fn offset(&mut self) -> Result<usize, Damaged> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value =
                value.checked_add(1).and_then(|v| v.checked_mul(128)).ok_or(Damaged(self.at))?
                    | usize::from(byte & 0x7f);
        }
        Ok(value)
    }
}

fn known_tree(at: &mut Cursor<'_>, format: Format, depth: u32) -> Result<KnownTree, Damaged> {
    // Paths are at most 4096 bytes long, so no honest index goes deeper.
    if depth > 2048 {
        return Err(Damaged(at.at));
    }
    let name = at.until(0)?.to_vec();
    let entries = at.number(b' ', 10)?;
    let below = at.number(b'\n', 10)?;
    let oid = if entries < 0 { None } else { Some(at.oid(format)?) };
    let below = (0..below).map(|_| known_tree(at, format, depth + 1)).collect::<Result<_, _>>()?;
    Ok(KnownTree { name, oid, below })
}

fn undo(at: &mut Cursor<'_>, format: Format) -> Result<Vec<(u32, Oid)>, Damaged> {
    let mut blobs = Vec::new();
    while at.at < at.raw.len() {
        let _path = at.until(0)?;
        let modes = [at.number(0, 8)?, at.number(0, 8)?, at.number(0, 8)?];
        for mode in modes {
            if mode != 0 {
                let mode = u32::try_from(mode).map_err(|_| Damaged(at.at))?;
                blobs.push((mode, at.oid(format)?));
            }
        }
    }
    Ok(blobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of version 2 with one file that was last touched at second 5, nanosecond 7.
    fn one_file() -> Vec<u8> {
        let mut raw = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        for number in [5_u32, 7, 5, 7, 0, 42, 0o100_644, 1, 1, 3] {
            raw.extend(number.to_be_bytes());
        }
        raw.extend([9; 20]);
        raw.extend(b"\0\x01a\0\0\0\0\0\0\0\0\0");
        let len = 12 + (62_usize + 1).next_multiple_of(8);
        raw.resize(len, 0);
        raw.extend([1; 20]);
        raw
    }

    fn on_disk() -> Stat {
        let at = 5 * SEC + 7;
        Stat { mode: 0o100_644, size: 3, mtime_ns: at, ctime_ns: at, ino: 42, uid: 1, gid: 1 }
    }

    #[test]
    fn a_file_as_young_as_the_index_is_not_trusted() {
        let index = Index::parse(one_file(), Format::Sha1, 0).unwrap();
        let entry = &index.entries[0];
        assert!(entry.is_unchanged(&on_disk(), 5 * SEC + 8));
        assert!(!entry.is_unchanged(&on_disk(), 5 * SEC + 7));
        assert!(!entry.is_unchanged(&Stat { size: 4, ..on_disk() }, 6 * SEC));
        assert!(!entry.is_unchanged(&Stat { mode: 0o100_755, ..on_disk() }, 6 * SEC));
        assert!(!entry.is_unchanged(&Stat { ctime_ns: 6 * SEC, ..on_disk() }, 7 * SEC));
    }

    #[test]
    fn a_refreshed_index_knows_the_file_as_it_is() {
        let index = Index::parse(one_file(), Format::Sha1, 0).unwrap();
        let now = Stat { ino: 77, mtime_ns: 9 * SEC, ctime_ns: 9 * SEC + 1, ..on_disk() };
        let again = Index::parse(index.refreshed(|_, _| Some(now)), Format::Sha1, 0).unwrap();
        assert!(again.entries[0].is_unchanged(&now, 10 * SEC));
        assert_eq!(again.entries[0].oid, index.entries[0].oid);
    }

    #[test]
    fn only_unchanged_files_lose_their_numbers() {
        let index = Index::parse(one_file(), Format::Sha1, 0).unwrap();
        let same = index.without_numbers_of(&[]);
        assert_eq!(same[..same.len() - 20], index.raw[..index.raw.len() - 20]);
        let clean = index.without_numbers_of(&[(0, on_disk())]);
        let blank = Index::parse(clean.clone(), Format::Sha1, 0).unwrap();
        assert!(!blank.entries[0].is_unchanged(&on_disk(), 10 * SEC));
        assert_eq!(
            (blank.entries[0].mode, blank.entries[0].oid),
            (0o100_644, index.entries[0].oid)
        );
        let back = Index::parse(blank.refreshed(|_, _| Some(on_disk())), Format::Sha1, 0).unwrap();
        assert!(back.entries[0].is_unchanged(&on_disk(), 10 * SEC));
        assert!(Index::empty(Format::Sha1).without_numbers_of(&[]).is_empty());
    }

    #[test]
    fn a_damaged_index_is_refused_and_never_a_panic() {
        let whole = one_file();
        for len in 0..whole.len() {
            drop(Index::parse(whole[..len].to_vec(), Format::Sha1, 0));
        }
        for at in 0..whole.len() {
            for bits in [1, 0x80, 0xff] {
                let mut bent = whole.clone();
                bent[at] ^= bits;
                drop(Index::parse(bent, Format::Sha1, 0));
            }
        }
        assert!(Index::parse(b"DIRC\0\0\0\x09".to_vec(), Format::Sha1, 0).is_err());
    }
}
