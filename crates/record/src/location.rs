//! Finding files of which only a part of the name is known, and all those that a conversation lies in.

use crate::durable;
use glis_agent::{Agent, FileLocation, Places, Segments};
use std::path::{Path, PathBuf};

/// The files that an agent keeps a conversation in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Its transcript: the first one.
    pub transcript: Option<PathBuf>,
    /// Where it went on after something was undone, in order.
    pub segments: Vec<PathBuf>,
    /// Files of other conversations that it goes on from.
    pub bases: Vec<PathBuf>,
}

impl Files {
    /// Those that are there.
    pub fn find(agent: &dyn Agent, agent_ref: &str, places: &Places) -> Self {
        let transcript = agent.transcript(agent_ref, places).and_then(|place| find(&place));
        let segments = agent.segments(agent_ref, places).map(|segments| all(&segments));
        let mut files =
            Self { transcript, segments: segments.unwrap_or_default(), bases: Vec::new() };
        let own = files.own();
        let base_of = |path: &Path| find(&agent.base(&durable::first_line(path)?, places)?);
        for path in &own {
            let mut at = path.clone();
            while let Some(base) = base_of(&at) {
                if own.contains(&base) || files.bases.contains(&base) {
                    break;
                }
                files.bases.push(base.clone());
                at = base;
            }
        }
        files
    }

    /// Those of the conversation itself. Read one after the other, they are all that was said in it.
    pub fn own(&self) -> Vec<PathBuf> {
        self.transcript.iter().chain(&self.segments).cloned().collect()
    }
}

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

fn all(segments: &Segments) -> Vec<PathBuf> {
    let mut found = Vec::new();
    gather(Path::new(&segments.folder), segments.levels, &segments.mark, &mut found);
    found.sort_unstable_by(|a, b| a.file_name().cmp(&b.file_name()));
    found
}

fn gather(folder: &Path, levels: u8, mark: &str, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for path in entries.map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if levels > 0 {
            gather(&path, levels - 1, mark, found);
        } else if name.contains(mark) && path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
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

    /// The first lines are those of Codex 0.169.0, without its instructions.
    #[test]
    fn a_conversation_is_all_files_that_it_goes_on_from() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_string_lossy().into_owned();
        let places = Places { home, ..Places::default() };
        let (talk, fork) =
            ("01a1ec0e-fd67-75b0-b072-02b3323e4f9a", "01a1ec0f-5790-7143-be83-ec7b7c903045");
        let (one, two) =
            ("01a1ec0f-53d8-7222-a14e-897cef1a298b", "01a1ec0f-5678-7a12-8a42-2ef22967583e");
        let write = |day: &str, name: &str, id: &str, base: Option<&str>| {
            let folder = dir.path().join("sessions/2026/11").join(day);
            std::fs::create_dir_all(&folder).unwrap();
            let history_base = base.map(|base| {
                serde_json::json!({"thread_id": base, "end_ordinal_exclusive": 14,
                    "end_byte_offset": 42053})
            });
            let meta = serde_json::json!({"ordinal": 14, "type": "session_meta", "payload": {
                "session_id": id, "id": id, "source": "cli", "history_mode": "paginated",
                "history_base": history_base}});
            let path = folder.join(format!("rollout-{name}.jsonl"));
            std::fs::write(&path, format!("{meta}\n{{\"ordinal\":15}}\n")).unwrap();
            path
        };
        let root = write("17", &format!("2026-11-17T23-59-27-{talk}"), talk, None);
        let later = format!("2026-11-18T00-29-50-{talk}_{two}");
        let later = write("18", &later, talk, Some(one));
        let undone = format!("2026-11-18T00-29-49-{talk}_{one}");
        let undone = write("18", &undone, talk, Some(talk));
        let forked = write("18", &format!("2026-11-18T00-29-50-{fork}"), fork, Some(two));
        let codex = glis_agent::find("codex").unwrap();
        let found = Files::find(codex, talk, &places);
        assert_eq!(found.own(), [root.clone(), undone.clone(), later.clone()]);
        assert_eq!(found.bases, Vec::<PathBuf>::new());
        let found = Files::find(codex, fork, &places);
        assert_eq!((found.own(), found.bases), (vec![forked], vec![later, undone, root]));
    }

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
