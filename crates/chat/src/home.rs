//! Paths as they are written in the configuration.

use std::path::{Path, PathBuf};

/// A path in which `~/` means the user's home.
pub(crate) fn expand(path: &str) -> PathBuf {
    let home = std::env::var_os("HOME");
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(path),
    }
}

/// A path as text; the configuration is text, so that nothing is lost.
pub(crate) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
