//! The user's own configuration of the agents: what it looks like, and whether it changed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Below the user's home; each agent's own variable or an XDG one may lead elsewhere.
const PLACES: &[(&str, &str, &str)] = &[
    ("CLAUDE_CONFIG_DIR", "", ".claude"),
    ("", "", ".claude.json"),
    ("CODEX_HOME", "", ".codex"),
    ("XDG_CONFIG_HOME", "opencode", ".config/opencode"),
    ("XDG_DATA_HOME", "opencode", ".local/share/opencode"),
    ("XDG_STATE_HOME", "opencode", ".local/state/opencode"),
    ("XDG_CACHE_HOME", "opencode", ".cache/opencode"),
    ("", "", ".gemini"),
];

/// What is inside a longer file is told by its size and time alone: old conversations are long.
const READ_BYTES_MAX: u64 = 1024 * 1024;

/// Every file of the agents' configuration with a print of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Belongings(BTreeMap<PathBuf, u64>);

impl Belongings {
    /// Looks at the user's own.
    pub(crate) fn look() -> Self {
        let mut found = Self::default();
        for place in places() {
            found.add(&place);
        }
        found
    }

    /// The files that differ, came or went.
    pub(crate) fn differences(&self, later: &Self) -> Vec<String> {
        let all = self.0.keys().chain(later.0.keys());
        let mut different: Vec<String> = all
            .filter(|path| self.0.get(*path) != later.0.get(*path))
            .map(|path| path.display().to_string())
            .collect();
        different.sort();
        different.dedup();
        different
    }

    fn add(&mut self, path: &Path) {
        let Ok(meta) = fs::symlink_metadata(path) else { return };
        if meta.is_dir() {
            self.0.insert(path.to_owned(), 0);
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.for_each(|entry| self.add(&entry.path()));
            return;
        }
        let mut print = DefaultHasher::new();
        meta.len().hash(&mut print);
        if meta.is_symlink() {
            fs::read_link(path).ok().hash(&mut print);
        } else if meta.is_file() && meta.len() <= READ_BYTES_MAX {
            let mut bytes = Vec::new();
            let read =
                File::open(path).and_then(|file| file.take(READ_BYTES_MAX).read_to_end(&mut bytes));
            read.is_ok().hash(&mut print);
            bytes.hash(&mut print);
        } else {
            meta.modified().ok().hash(&mut print);
        }
        self.0.insert(path.to_owned(), print.finish());
    }
}

fn places() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = variable("HOME").map(PathBuf::from);
    let mut places = Vec::new();
    for (moved_by, below, usual) in PLACES {
        places.extend(variable(moved_by).map(|moved| PathBuf::from(moved).join(below)));
        places.extend(home.as_ref().map(|home| home.join(usual)));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(folder: &Path) -> Belongings {
        let mut found = Belongings::default();
        found.add(folder);
        found
    }

    #[test]
    fn every_change_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("same"), "x").unwrap();
        fs::write(path("changes"), "x").unwrap();
        fs::write(path("goes"), "x").unwrap();
        std::os::unix::fs::symlink("same", path("leads")).unwrap();
        let before = print(folder.path());
        assert!(before.differences(&print(folder.path())).is_empty());
        fs::write(path("changes"), "y").unwrap();
        fs::remove_file(path("goes")).unwrap();
        fs::create_dir(path("comes")).unwrap();
        fs::remove_file(path("leads")).unwrap();
        std::os::unix::fs::symlink("elsewhere", path("leads")).unwrap();
        let wanted =
            ["changes", "comes", "goes", "leads"].map(|name| path(name).display().to_string());
        assert_eq!(before.differences(&print(folder.path())), wanted);
    }
}
