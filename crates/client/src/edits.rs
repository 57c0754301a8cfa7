//! What an agent wants to change, read from what it says with a question. Each agent has a form of its own
//! for that; every face shows them alike, as lines of a patch.

use serde_json::Value;
use std::ops::Range;

/// As many lines that stay the same are shown around a change.
const AROUND: usize = 2;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file, as the agent names it.
    pub path: String,
    /// Lines of a patch: each begins with `+`, `-`, a blank, or `@@`.
    pub lines: Vec<String>,
}

/// The changes that are asked for. None where the question is about something else.
pub fn edits(input: &Value) -> Vec<Edit> {
    let all = |key: &str| input.get(key).and_then(Value::as_array).into_iter().flatten();
    let mut found: Vec<Edit> = all("changes").filter_map(by_patch).collect();
    found.extend(all("content").filter_map(by_texts));
    let path = ["file_path", "notebook_path"].iter().find_map(|key| text(input, key));
    let Some(path) = path.map(ToOwned::to_owned) else { return found };
    let parts: Vec<&Value> = match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().collect(),
        None => vec![input],
    };
    let mut lines = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let Some((former, new)) = replaced(part) else { continue };
        lines.extend((at > 0).then(|| "@@".to_owned()));
        lines.extend(difference(former, new));
    }
    found.extend((!lines.is_empty()).then_some(Edit { path, lines }));
    found
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// A part of a file that is replaced, or a file that is written whole.
fn replaced(part: &Value) -> Option<(&str, &str)> {
    let new = ["new_string", "content", "new_source"].iter().find_map(|key| text(part, key))?;
    Some((text(part, "old_string").unwrap_or_default(), new))
}

/// `{path, kind, diff}`; what is made or deleted is told by its text alone.
fn by_patch(change: &Value) -> Option<Edit> {
    let (path, diff) = (text(change, "path")?.to_owned(), text(change, "diff")?);
    let kind = change.get("kind").unwrap_or(&Value::Null);
    let kind = kind.as_str().or_else(|| text(kind, "type")).unwrap_or_default();
    let is_patch = diff.lines().any(|line| line.starts_with("@@"));
    let lines = match kind {
        "add" if !is_patch => difference("", diff),
        "delete" if !is_patch => difference(diff, ""),
        _ => diff.lines().map(ToOwned::to_owned).collect(),
    };
    Some(Edit { path, lines })
}

/// `{path, oldText, newText}`.
fn by_texts(shown: &Value) -> Option<Edit> {
    let (path, new) = (text(shown, "path")?.to_owned(), text(shown, "newText")?);
    Some(Edit { path, lines: difference(text(shown, "oldText").unwrap_or_default(), new) })
}

/// What is taken away and what comes in its place, with a little of what stays around it.
fn difference(former: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (former.lines().collect(), new.lines().collect());
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
    fn what_is_no_edit_is_none() {
        for input in
            [json!({"command": "ls"}), json!({"file_path": "a"}), json!("edit"), json!(null)]
        {
            assert_eq!(edits(&input), [], "{input}");
        }
    }
}
