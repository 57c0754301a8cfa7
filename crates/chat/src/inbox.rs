//! Files that users send, on their way to a worktree: they lie in a folder of the bot until the daemon has
//! copied them.

use crate::policy::{Attached, AttachedKind};
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Name of the folder in the state folder.
const FOLDER: &str = "chat-files";
/// A file that is not whole yet; no name that is given begins with a dot.
const FRESH: &str = ".fresh";
/// A file system takes 255 bytes; a number may come to them.
const NAME_BYTES_MAX: usize = 120;

#[derive(Debug, Clone)]
pub struct Inbox {
    folder: PathBuf,
}

impl Inbox {
    /// The one in this state folder.
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join(FOLDER) }
    }

    /// Forgets what an earlier process has left, but for the files of these updates: the daemon may be copying
    /// them.
    pub fn keep_only(&self, updates: &[i64]) -> io::Result<()> {
        let known: Vec<PathBuf> = updates.iter().map(|update| self.of(*update)).collect();
        let found = match std::fs::read_dir(&self.folder) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        for entry in found {
            let path = entry?.path();
            if !known.contains(&path) {
                std::fs::remove_dir_all(path)?;
            }
        }
        Ok(())
    }

    /// The file of an update, if it is here.
    pub fn get(&self, update: i64, name: &str) -> Option<PathBuf> {
        Some(self.of(update).join(name)).filter(|path| path.is_file())
    }

    /// Keeps the file of an update, whole or not at all. Its place is always the same, so that a call that names
    /// it is the same call when it is repeated.
    pub fn put(&self, update: i64, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let folder = self.of(update);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let (path, fresh) = (folder.join(name), folder.join(FRESH));
        let mut options = File::options();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(fresh, &path)?;
        Ok(path)
    }

    /// The file of an update is not needed any more.
    pub fn forget(&self, update: i64) {
        // What cannot be removed goes when the next process begins.
        drop(std::fs::remove_dir_all(self.of(update)));
    }

    fn of(&self, update: i64) -> PathBuf {
        self.folder.join(update.to_string())
    }
}

/// What a file is called in a worktree: one name, whatever its sender called it.
pub fn name_of(file: &Attached) -> String {
    let usual = match file.kind {
        AttachedKind::Document => "file",
        AttachedKind::Photo => "photo.jpg",
        AttachedKind::Video => "video.mp4",
        AttachedKind::Audio => "audio.mp3",
        AttachedKind::Voice => "voice.ogg",
    };
    let given = file.name.as_deref().unwrap_or(usual);
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    // What is not to be seen, or turns the direction of writing around, has no place in a name.
    let shown = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let plain: String = last.chars().filter(shown).collect();
    // A leading dot would hide it, and a leading dash is an option of many programs.
    let name = short(&plain).trim().trim_start_matches(['.', '-', ' ']);
    if name.is_empty() { usual.to_owned() } else { name.to_owned() }
}

/// The end of a name, which tells what it is, as far as a file system takes it.
fn short(name: &str) -> &str {
    let mut from = name.len().saturating_sub(NAME_BYTES_MAX);
    while !name.is_char_boundary(from) {
        from += 1;
    }
    name.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
