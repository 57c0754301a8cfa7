//! Which command line a turn gets: the first of a conversation, or a later one.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How the agent is started, turn by turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// The agent's id of the conversation.
    pub id: String,
    /// Begins the conversation; empty if it has begun already.
    pub first: Vec<String>,
    /// Goes on with it.
    pub later: Vec<String>,
    /// Where the file of the conversation lies: somewhere below this folder …
    pub folder: PathBuf,
    /// … so many folders deep …
    pub levels: u8,
    /// … with a name that ends like this.
    pub ending: String,
}

impl Course {
    /// The command line of the next turn. Once a conversation has begun it is never begun again:
    /// one that is missing then is for the agent to complain about.
    pub(crate) fn next(&mut self) -> &[String] {
        if !self.first.is_empty() && self.begun() {
            self.first.clear();
        }
        if self.first.is_empty() { &self.later } else { &self.first }
    }

    /// What is wrong with a conversation that has begun already.
    pub(crate) fn fault(&self) -> Option<String> {
        let fits = !self.first.is_empty() || self.begun();
        (!fits).then(|| format!("no file below {} holds {}", self.folder.display(), self.id))
    }

    /// Whether a file holds the conversation. An empty one of the right name does not.
    fn begun(&self) -> bool {
        let mut found = Vec::new();
        files(&self.folder, self.levels, &self.ending, &mut found);
        found.iter().any(|file| {
            let text = std::fs::read(file).unwrap_or_default();
            text.windows(self.id.len().max(1)).any(|part| part == self.id.as_bytes())
        })
    }
}

fn files(folder: &Path, levels: u8, ending: &str, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if levels > 0 && path.is_dir() {
            files(&path, levels - 1, ending, found);
        } else if levels == 0 && path.to_str().is_some_and(|path| path.ends_with(ending)) {
            found.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_begun_once_and_never_again() {
        let dir = tempfile::tempdir().unwrap();
        let chats = dir.path().join("project/chats");
        std::fs::create_dir_all(&chats).unwrap();
        let words = |word: &str| vec![word.to_owned()];
        let mut course = Course {
            id: "abc-1".to_owned(),
            first: words("first"),
            later: words("later"),
            folder: dir.path().to_owned(),
            levels: 2,
            ending: "-abc.jsonl".to_owned(),
        };
        assert_eq!(course.next(), ["first"]);
        assert_eq!(course.fault(), None);
        // A file that holds another conversation, or none, is not ours.
        std::fs::write(chats.join("x-abc.jsonl"), "").unwrap();
        std::fs::write(dir.path().join("y-abc.jsonl"), "abc-1").unwrap();
        assert_eq!(course.next(), ["first"]);
        std::fs::write(chats.join("x-abc.jsonl"), "{\"id\":\"abc-1\"}").unwrap();
        assert_eq!(course.next(), ["later"]);
        std::fs::remove_file(chats.join("x-abc.jsonl")).unwrap();
        assert_eq!(course.next(), ["later"]);
        assert!(course.fault().unwrap().contains("abc-1"));
    }
}
