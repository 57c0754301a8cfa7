//! The user's own files: which worktree they lie in, and how one is written as a whole.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// The nearest folder, this one or above it, that git knows as a worktree. That of a repository has a
/// folder called `.git`, any other a file.
pub(super) fn worktree_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|above| above.join(".git").exists())
}

/// Puts a text in the place of a file, the former one or this one and nothing between; its folder is made where there is none.
pub(super) fn replace(file: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: what it leads to is written.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let draft = folder.join(format!(".glis.{}.tmp", std::process::id()));
    let mut open = fs::File::create(&draft)?;
    if let Ok(former) = fs::metadata(file) {
        open.set_permissions(former.permissions())?;
    }
    let written = open.write_all(text.as_bytes()).and_then(|()| open.sync_all());
    written.and_then(|()| fs::rename(&draft, file)).inspect_err(|_| drop(fs::remove_file(&draft)))
}
