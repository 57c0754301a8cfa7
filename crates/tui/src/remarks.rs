//! What a person has done with a diff: files that were seen, and comments that were not sent.

use crate::patch::{FilePatch, PatchLine};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remarks {
    /// By path, what was seen of it: a file that has changed since was not.
    seen: BTreeMap<String, u64>,
    pub(crate) comments: Vec<Comment>,
}

/// Words on a line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comment {
    pub(crate) path: String,
    /// As the patch has the line.
    pub(crate) line: String,
    pub(crate) number: usize,
    pub(crate) words: String,
}

impl Comment {
    pub(crate) fn is_on(&self, file: &FilePatch, line: &PatchLine) -> bool {
        let number = line.numbers.1.max(line.numbers.0);
        self.path == file.path && self.number == number && self.line == line.source()
    }
}

impl Remarks {
    pub(crate) fn has_seen(&self, file: &FilePatch) -> bool {
        self.seen.get(&file.path) == Some(&file.print())
    }

    /// Notes that a file was seen, or was not. Whether it is seen now.
    pub(crate) fn turn_seen(&mut self, file: &FilePatch) -> bool {
        if self.has_seen(file) {
            self.seen.remove(&file.path);
            return false;
        }
        self.seen.insert(file.path.clone(), file.print());
        true
    }

    /// Puts words on a line in the place of those that are there; no words take them away.
    pub(crate) fn comment(&mut self, comment: Comment) {
        let same = |one: &Comment| {
            (&one.path, one.number, &one.line) == (&comment.path, comment.number, &comment.line)
        };
        self.comments.retain(|one| !same(one));
        if !comment.words.is_empty() {
            self.comments.push(comment);
        }
    }

    /// All comments as one message, if there are any.
    pub(crate) fn message(&self) -> Option<String> {
        let mut text = "Comments on your changes:".to_owned();
        for Comment { path, line, number, words } in &self.comments {
            let _ = write!(text, "\n\n{path}:{number}\n> {line}\n{words}");
        }
        (!self.comments.is_empty()).then_some(text)
    }
}
