//! What a conversation comes down to without a model: everything that was asked for, what is to do,
//! which files were changed, what did not work and what did then, and the last words.

use super::digest::OUTCOME;
use super::reading::each;
use super::summary::{By, Summary};
use glis_agent::context::own_words;
use glis_wire::plain::in_one_line;
use glis_wire::view::{Entry, Voice};
use serde_json::Value;
use std::io;
use std::path::Path;

/// A request in full is in the conversation; this much of it says what was wanted.
const REQUEST_CHARS_MAX: usize = 600;
/// Beyond so many requests each is told in a line.
const REQUESTS_IN_FULL: usize = 100;
const LINE_CHARS_MAX: usize = 120;
/// Lists that nobody reads to the end are cut, and say so.
const LIST_MAX: usize = 200;

/// The extract of the conversation in this file.
pub fn extract(path: &Path) -> io::Result<Summary> {
    let mut found = Found::default();
    each(path, |entry| found.take(&entry))?;
    Ok(found.told())
}

/// How an entry begins that tells what a question was answered with. The question follows in the next line.
pub const ANSWERED: &str = "answered: ";

/// What a conversation began with, in a line.
pub fn first_request(path: &Path) -> io::Result<Option<String>> {
    let mut first = None;
    each(path, |entry| {
        if first.is_none() && entry.voice == Voice::User {
            first = own_words(&entry.content).map(|own| clip(&in_one_line(own), REQUEST_CHARS_MAX));
        }
    })?;
    Ok(first)
}

/// What was found in the entries.
#[derive(Default)]
struct Found {
    requests: Vec<String>,
    decisions: Vec<String>,
    pending: Vec<String>,
    files: Vec<String>,
    /// What each use of a tool has added to them since the last request: nothing, if it fails.
    fresh: Vec<Fresh>,
    /// What did not work, by its tool, and what that tool did next.
    failed: Vec<Failed>,
    last_action: Option<String>,
    last_words: Option<String>,
}

/// Files that one use of a tool may have changed.
struct Fresh {
    tool: String,
    content: String,
    files: Vec<String>,
}

struct Failed {
    tool: String,
    what: String,
    mended: Option<String>,
}

impl Found {
    fn take(&mut self, entry: &Entry) {
        if let Some(Value::Array(tasks)) = entry.metadata.get("pending_tasks") {
            let text = tasks.iter().filter_map(Value::as_str);
            self.pending = text.map(ToOwned::to_owned).collect();
        }
        match entry.voice {
            Voice::User => {
                self.fresh.clear();
                let own = own_words(&entry.content).filter(|own| !self.repeats(own));
                self.requests.extend(own.map(ToOwned::to_owned));
            }
            Voice::Assistant => {
                self.last_words = Some(clip(&entry.content, REQUEST_CHARS_MAX));
                self.last_action = Some(clip(&in_one_line(&entry.content), LINE_CHARS_MAX));
            }
            Voice::Tool => self.take_tool(entry),
            Voice::System => self.decisions.extend(decided(&entry.content)),
        }
    }

    /// What was said again because it was not taken is one request.
    fn repeats(&self, words: &str) -> bool {
        self.requests.last().is_some_and(|last| last == words)
    }

    fn take_tool(&mut self, entry: &Entry) {
        let text = |key: &str| entry.metadata.get(key).and_then(Value::as_str).unwrap_or_default();
        let (tool, outcome) = (text("tool"), text(OUTCOME));
        let what = clip(&in_one_line(&format!("{tool} {}", entry.content)), LINE_CHARS_MAX);
        if !outcome.is_empty() {
            self.unchange(tool, &entry.content);
            let tool = tool.to_owned();
            self.failed.push(Failed { tool, what: format!("{outcome}: {what}"), mended: None });
            return;
        }
        let open = self.failed.iter_mut().rev().find(|failed| failed.tool == tool);
        if let Some(failed) = open.filter(|failed| failed.mended.is_none()) {
            failed.mended = Some(what.clone());
        }
        if changes_files(tool) {
            let files = files_in(&entry.content).into_iter();
            let files: Vec<_> = files.filter(|file| !self.files.contains(file)).collect();
            self.files.extend(files.iter().cloned());
            let (tool, content) = (tool.to_owned(), entry.content.clone());
            self.fresh.push(Fresh { tool, content, files });
        }
        self.last_action = Some(what);
    }

    /// A tool that failed, or was not allowed, is told a second time, and has changed nothing.
    fn unchange(&mut self, tool: &str, content: &str) {
        let same = |fresh: &Fresh| fresh.tool == tool && fresh.content == content;
        if let Some(at) = self.fresh.iter().rposition(same) {
            let fresh = self.fresh.remove(at);
            self.files.retain(|file| !fresh.files.contains(file));
        }
    }

    fn told(self) -> Summary {
        let most =
            if self.requests.len() > REQUESTS_IN_FULL { LINE_CHARS_MAX } else { REQUEST_CHARS_MAX };
        let requests = self.requests.iter().map(|request| clip(request, most));
        let failed = self.failed.iter().map(|failed| match &failed.mended {
            Some(mended) => format!("{}; then: {mended}", failed.what),
            None => failed.what.clone(),
        });
        let action = self.last_action.as_deref().unwrap_or("(none recorded)");
        let words = self.last_words.as_deref().unwrap_or("(nothing was said yet)");
        let current_state = format!("Last action: {action}\nLast words: {words}");
        let parts = [
            ("What the user asked for, in order", list(requests)),
            ("What was decided", list(self.decisions.into_iter())),
            ("To do", list(self.pending.iter().cloned())),
            ("Files changed", list(self.files.iter().cloned())),
            ("What did not work", list(failed)),
            ("Last action", action.to_owned()),
            ("Last words", words.to_owned()),
        ];
        let said = parts.into_iter().filter(|(_, text)| !text.is_empty());
        let said: Vec<_> = said.map(|(heading, text)| format!("{heading}:\n{text}")).collect();
        Summary {
            by: By::Extract,
            summary: said.join("\n\n"),
            key_decisions: Vec::new(),
            current_state,
            pending_tasks: self.pending,
        }
    }
}

/// What a person has answered, and to what.
fn decided(content: &str) -> Option<String> {
    let (answer, question) = content.strip_prefix(ANSWERED)?.split_once('\n')?;
    let line = format!("{}: {}", in_one_line(question), in_one_line(answer));
    Some(clip(&line, REQUEST_CHARS_MAX))
}

/// Whether a tool of this name writes files. Agents call theirs by such words.
fn changes_files(tool: &str) -> bool {
    let name = tool.to_ascii_lowercase();
    ["edit", "write", "patch", "create", "replace"].iter().any(|word| name.contains(word))
}

/// The files that a tool was told to change: by name, or as it was told.
fn files_in(content: &str) -> Vec<String> {
    if let Ok(Value::Object(told)) = serde_json::from_str(content) {
        let named = ["path", "file_path", "file"].iter().filter_map(|key| told.get(*key)?.as_str());
        return named.map(ToOwned::to_owned).collect();
    }
    content.split_whitespace().filter(|word| is_path(word)).map(ToOwned::to_owned).collect()
}

/// A word that can be the name of a file: with a folder or an ending.
fn is_path(word: &str) -> bool {
    let named = word.contains('/')
        || word.rsplit_once('.').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
    named && word.len() < 300 && !word.contains("://")
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<_> = items.collect();
    let more = items.len().saturating_sub(LIST_MAX);
    // The first and the last say most.
    let shown = |at: usize| at < LIST_MAX / 2 || at + LIST_MAX / 2 >= items.len() || more == 0;
    let mut lines = Vec::new();
    for (at, item) in items.iter().enumerate().filter(|(at, _)| shown(*at)) {
        if more > 0 && at + LIST_MAX / 2 == items.len() {
            lines.push(format!("({more} more are in the conversation)"));
        }
        lines.push(format!("{}. {item}", at + 1));
    }
    lines.join("\n")
}

fn clip(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
