//! Finding files of which only the end of the name is known.

use glis_agent::FileLocation;
use std::path::{Path, PathBuf};

/// The file, if it is there.
pub fn find(place: &FileLocation) -> Option<PathBuf> {
    match place {
        FileLocation::At(path) => Some(PathBuf::from(path)).filter(|path| path.exists()),
        FileLocation::Below { folder, levels, ending } => below(Path::new(folder), *levels, ending),
    }
}

/// Whether a path is one of those that would be found there.
pub fn may_be(place: &FileLocation, path: &Path) -> bool {
    match place {
        FileLocation::At(place) => path == Path::new(place),
        FileLocation::Below { folder, levels, ending } => {
            let below = path.strip_prefix(folder).ok();
            let name = path.file_name().and_then(|name| name.to_str());
            below.is_some_and(|below| below.components().count() == usize::from(*levels) + 1)
                && name.is_some_and(|name| name.ends_with(ending))
        }
    }
}

/// Where one would look for it, for a person.
pub fn describe(place: &FileLocation) -> String {
    match place {
        FileLocation::At(path) => path.clone(),
        FileLocation::Below { folder, ending, .. } => format!("{folder}/\u{2026}{ending}"),
    }
}

fn below(folder: &Path, levels: u8, ending: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    if levels == 0 {
        let names = entries
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.ends_with(ending)));
        // Gemini CLI leaves almost empty files under the same id when it resumes: the longest is
        // the conversation.
        let length = |entry: &std::fs::DirEntry| entry.metadata().map_or(0, |facts| facts.len());
        return names.max_by_key(length).map(|entry| entry.path());
    }
    // Newest first: folders are often named by date, and what is looked for is mostly recent.
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_unstable_by(|a, b| b.cmp(a));
    folders.iter().find_map(|folder| below(folder, levels - 1, ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_the_end_of_its_name_at_its_depth_only() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("2026/11");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("rollout-a-1.jsonl"), "").unwrap();
        std::fs::write(dir.path().join("b-1.jsonl"), "").unwrap();
        let look = |levels, ending: &str| {
            find(&FileLocation::Below {
                folder: dir.path().to_string_lossy().into_owned(),
                levels,
                ending: ending.to_owned(),
            })
        };
        assert_eq!(look(2, "-1.jsonl"), Some(deep.join("rollout-a-1.jsonl")));
        assert_eq!(look(0, "-1.jsonl"), Some(dir.path().join("b-1.jsonl")));
        assert_eq!(look(1, "-1.jsonl"), None);
        assert_eq!(look(2, "-2.jsonl"), None);
        let folder = dir.path().to_string_lossy().into_owned();
        let place = FileLocation::Below { folder, levels: 2, ending: "-1.jsonl".to_owned() };
        assert!(may_be(&place, &deep.join("rollout-a-1.jsonl")));
        assert!(!may_be(&place, &deep.join("rollout-a-2.jsonl")));
        assert!(!may_be(&place, &dir.path().join("b-1.jsonl")));
        assert!(!may_be(&place, Path::new("/elsewhere/2026/11/rollout-a-1.jsonl")));
        std::fs::write(deep.join("a-0-1.jsonl"), "longer").unwrap();
        std::fs::write(deep.join("z-2-1.jsonl"), "long").unwrap();
        assert_eq!(look(2, "-1.jsonl"), Some(deep.join("a-0-1.jsonl")));
    }
}
