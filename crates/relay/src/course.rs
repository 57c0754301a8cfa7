//! Which command line a turn gets: the first of a conversation, or a later one.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Whether the transcript of an agent, by its name, holds a message that it can go on from.
pub type Holds = fn(&str, &[u8]) -> bool;

/// How the agent is started, turn by turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// The agent's name. An older daemon, whose program was replaced under it, does not tell it.
    #[serde(default)]
    pub agent: String,
    /// Its id of the conversation.
    pub id: String,
    /// Begins the conversation; empty if it has begun already.
    pub first: Vec<String>,
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
    pub(crate) fn next(&mut self, holds: Holds) -> &[String] {
        if !self.first.is_empty() {
            let (begun, empty): (Vec<_>, Vec<_>) =
                self.files().into_iter().partition(|(_, text)| holds(&self.agent, text));
            if begun.is_empty() {
                // The agent neither resumes a conversation without a message nor begins one under the same id.
                for (file, _) in &empty {
                    move_aside(file);
                }
            } else {
                self.first.clear();
            }
        }
        if self.first.is_empty() { &self.later } else { &self.first }
    }

    /// What is wrong with a conversation that has begun already.
    pub(crate) fn fault(&self) -> Option<String> {
        let fits = !self.first.is_empty() || !self.files().is_empty();
        (!fits).then(|| format!("no file below {} holds {}", self.folder.display(), self.id))
    }

    /// The files that hold the conversation's id, with their text. An empty one of the right name does not.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        files(&self.folder, self.levels, &self.ending, &mut found);
        let read = |file: PathBuf| Some((std::fs::read(&file).ok()?, file));
        let ours =
            |text: &[u8]| text.windows(self.id.len().max(1)).any(|part| part == self.id.as_bytes());
        let found = found.into_iter().filter_map(read).filter(|(text, _)| ours(text));
        found.map(|(text, file)| (file, text)).collect()
    }
}

/// Gives a file another name beside its own. Nothing is deleted, and what cannot be moved the agent itself
/// complains about.
fn move_aside(file: &Path) {
    let names = (1..).map(|n: u32| file.with_extension(format!("jsonl.aside-{n}")));
    if let Some(free) = names.into_iter().find(|name| !name.exists()) {
        drop(std::fs::rename(file, free));
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
        // A conversation with a message in it has more than its id.
        let holds = |_: &str, text: &[u8]| text.contains(&b'"');
        let mut course = Course {
            agent: "agent".to_owned(),
            id: "abc-1".to_owned(),
            first: words("first"),
            later: words("later"),
            folder: dir.path().to_owned(),
            levels: 2,
            ending: "-abc.jsonl".to_owned(),
        };
        assert_eq!(course.next(holds), ["first"]);
        assert_eq!(course.fault(), None);
        // A file that holds another conversation, or none, is not ours.
        std::fs::write(chats.join("x-abc.jsonl"), "").unwrap();
        std::fs::write(dir.path().join("y-abc.jsonl"), "abc-1").unwrap();
        assert_eq!(course.next(holds), ["first"]);
        // One without a message is out of the way when it is begun again.
        std::fs::write(chats.join("x-abc.jsonl"), "abc-1").unwrap();
        assert_eq!(course.next(holds), ["first"]);
        assert!(chats.join("x-abc.jsonl.aside-1").exists() && !chats.join("x-abc.jsonl").exists());
        std::fs::write(chats.join("x-abc.jsonl"), "{\"id\":\"abc-1\"}").unwrap();
        assert_eq!(course.next(holds), ["later"]);
        std::fs::remove_file(chats.join("x-abc.jsonl")).unwrap();
        assert_eq!(course.next(holds), ["later"]);
        assert!(course.fault().unwrap().contains("abc-1"));
    }
}
