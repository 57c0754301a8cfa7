//! The user's own files, written as a whole: the former text or the new one, and nothing between.

use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Puts a text in the place of a file; its folder is made where there is none.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it leads to is written.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let draft = beside(file, text)?;
    fs::rename(&draft, file).inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Makes a file that is not there; one that is stays as it is.
pub fn create(file: &Path, text: &str) -> io::Result<()> {
    let draft = beside(file, text)?;
    match renameat_with(CWD, &draft, CWD, file, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // Not every file system can: what was looked for a moment ago was not there.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if !file.exists() => {
            fs::rename(&draft, file)
        }
        Err(fault) => Err(fault.into()),
    }
    .inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Waits until nobody else changes something in a folder, which is made where there is none. Nobody does until what
/// this returns is dropped.
pub fn lock(folder: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(folder)?;
    let folder = fs::File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Writes a text beside the file that it is to become.
fn beside(file: &Path, text: &str) -> io::Result<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let draft = folder.join(draft_name());
    let mut open = fs::File::create(&draft)?;
    if let Ok(former) = fs::metadata(file) {
        open.set_permissions(former.permissions())?;
    }
    let written = open.write_all(text.as_bytes()).and_then(|()| open.sync_all());
    written.inspect_err(|_| drop(fs::remove_file(&draft)))?;
    Ok(draft)
}

/// A name that no other process takes, for a file that is being written.
pub fn draft_name() -> String {
    format!(".glis.{}.tmp", std::process::id())
}
