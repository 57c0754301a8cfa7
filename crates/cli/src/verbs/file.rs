//! The user's own files: which worktree they lie in, and how one is written as a whole.

use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The nearest folder, this one or above it, that git knows as a worktree. That of a repository has a
/// folder called `.git` with a `HEAD`, any other a file.
pub(super) fn worktree_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| {
        let git = above.join(".git");
        // It may be a link to a branch that has no commit yet.
        git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
    })
}

/// Puts a text in the place of a file, the former one or this one and nothing between; its folder is made where there is none.
pub(super) fn replace(file: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it leads to is written.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let draft = beside(file, text)?;
    fs::rename(&draft, file).inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Waits until nobody else changes something in a folder, which is made where there is none. Nobody does until what
/// this returns is dropped.
pub(super) fn lock(folder: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(folder)?;
    let folder = fs::File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Makes a file that is not there; one that is stays as it is.
pub(super) fn create(file: &Path, text: &str) -> io::Result<()> {
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

/// Writes a file of ours, for its owner alone, whole or not at all.
pub(super) fn keep(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = folder.join(draft_name());
    let mut open = fs::File::options();
    let mut open = open.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let written = open.write_all(text.as_bytes()).and_then(|()| open.sync_all());
    written.and_then(|()| fs::rename(&draft, file)).inspect_err(|_| drop(fs::remove_file(&draft)))
}

fn draft_name() -> String {
    format!(".glis.{}.tmp", std::process::id())
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
