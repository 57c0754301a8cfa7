//! How far a session is with its tasks: by the check list of the file that a loop works from.

use glis_agent::Tally;
use glis_config::regular;
use glis_core::looping::SPEC_BYTES_MAX;
use glis_core::session::Session;
use std::io::Read as _;
use std::path::Path;

/// What the check list of a loop's file counts, if it has one.
pub(crate) fn of(session: &Session) -> Option<Tally> {
    let file = session.looped.as_ref()?.spec.file.as_ref()?;
    let worktree = Path::new(session.worktree.as_ref()?);
    let opened = regular::open_inside(worktree, &worktree.join(&file.path)).ok()?;
    let mut text = Vec::new();
    // What is longer is counted as far as this.
    opened.take(SPEC_BYTES_MAX).read_to_end(&mut text).ok()?;
    let tally = count(&String::from_utf8_lossy(&text));
    (tally != Tally::default()).then_some(tally)
}

/// Counts the items of a list in Markdown. What stands between fences is an example.
fn count(text: &str) -> Tally {
    let mut fenced = false;
    let items = text.lines().filter_map(|line| {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced { None } else { status(line) }
    });
    Tally::of(items)
}

/// What a line says of an item, in the words that agents have for it.
fn status(line: &str) -> Option<&'static str> {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks = if numbered.len() < line.len() { [".", ")"].as_slice() } else { &["-", "*", "+"] };
    let rest = marks.iter().find_map(|mark| numbered.strip_prefix(mark))?;
    let mut inside = rest.trim_start().strip_prefix('[')?.chars();
    let (mark, end, after) = (inside.next()?, inside.next()?, inside.next());
    if end != ']' || after.is_some_and(|c| !c.is_whitespace()) {
        return None;
    }
    match mark {
        ' ' => Some("open"),
        'x' | 'X' => Some("completed"),
        '~' | '/' | '>' => Some("in_progress"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_list_is_counted_as_people_write_it() {
        let text = "# Tasks\n- [x] one\n  * [X] two\n1. [ ] three\n+ [~] four\n- [/] five\n\
                    2) [ ] six\n- [ ]\n";
        assert_eq!(count(text), Tally { done: 2, active: 2, open: 3 });
    }

    #[test]
    fn what_only_looks_like_an_item_is_none() {
        let text = "- [link](x)\n- [a] b\n[ ] no bullet\n- [x](y)\n```\n- [ ] example\n```\n- []\n\
                    ~~~\n- [x]\n~~~\n- plain\n12 [ ] x\n";
        assert_eq!(count(text), Tally::default());
    }
}
