//! The user's own files: which worktree they lie in; and files of ours, written as a whole.

use glis_config::whole;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// The nearest folder, this one or above it, that git knows as a worktree. That of a repository has a
/// folder called `.git` with a `HEAD`, any other a file.
pub fn worktree_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| {
        let git = above.join(".git");
        // It may be a link to a branch that has no commit yet.
        git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
    })
}

/// Writes a file of ours, for its owner alone, whole or not at all.
pub fn keep(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = folder.join(whole::draft_name());
    let mut open = fs::File::options();
    let mut open = open.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    let written = open.write_all(text.as_bytes()).and_then(|()| open.sync_all());
    written.and_then(|()| fs::rename(&draft, file)).inspect_err(|_| drop(fs::remove_file(&draft)))
}
