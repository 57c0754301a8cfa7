//! How far a session is with its tasks: by the check list of the file that a loop works from.

use glis_agent::Tally;
use glis_config::regular;
use glis_core::looping::SPEC_BYTES_MAX;
use glis_core::session::Session;
use glis_record::durable;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The list where it came from, as it was last seen: a file of the session's own folder.
const SEEN: &str = "list.seen";

/// What the check list of a loop's file counts, if it has one.
pub(crate) fn of(session: &Session) -> Option<Tally> {
    let (worktree, path) = place(session)?;
    let tally = count(&text_of(worktree, &path).ok()?);
    (tally != Tally::default()).then_some(tally)
}

/// What is done in a loop's list and is not in the last commit of its branch.
pub(crate) fn ticked(session: &Session) -> Vec<String> {
    let Some((worktree, path)) = place(session) else { return Vec::new() };
    let (Ok(text), Ok(inside)) = (text_of(worktree, &path), path.strip_prefix(worktree)) else {
        return Vec::new();
    };
    let named = format!("HEAD:./{}", inside.display());
    let Ok(before) = glis_snapshot::git::run(worktree, &["show", &named]) else {
        return Vec::new();
    };
    let done = |text: &str| -> BTreeSet<String> {
        let done = items(text).filter(|(status, _)| *status == "completed");
        done.map(|(_, what)| what.to_owned()).collect()
    };
    done(&text).difference(&done(&before)).cloned().collect()
}

/// Whether there is something in it, and nothing of that is open.
pub(crate) fn is_done(tally: &Tally) -> bool {
    tally.done > 0 && tally.active + tally.open == 0
}

pub(crate) fn has_nothing_open(text: &str) -> bool {
    is_done(&count(text))
}

/// Remembers the list as it is where it came from: what is in it later, and was not, the user has added.
pub(crate) fn remember(session: &Session, dir: &Path) {
    if let Some(text) = theirs(session) {
        // Without it nothing is taken for new.
        let kept = durable::private_folder(dir);
        kept.and_then(|()| durable::write(dir, SEEN, text.as_bytes())).ok();
    }
}

/// Adds the open items to a loop's list that the user has added where it came from, before an iteration is paid for. What
/// there is to say of that.
pub(crate) fn take_over(session: &Session, dir: &Path) -> Option<String> {
    match add_theirs(session, dir) {
        Ok(0) => None,
        Ok(1) => Some("an item was added to its list".to_owned()),
        Ok(added) => Some(format!("{added} items were added to its list")),
        Err(why) => Some(format!("its list: {why}")),
    }
}

/// Adds them. How many these are.
fn add_theirs(session: &Session, dir: &Path) -> io::Result<usize> {
    let (Some((worktree, path)), Some(theirs)) = (place(session), theirs(session)) else {
        return Ok(0);
    };
    // A list that its agent has taken away gets nothing.
    let (Ok(own), Ok(seen)) = (text_of(worktree, &path), std::fs::read_to_string(dir.join(SEEN)))
    else {
        return Ok(0);
    };
    let known: BTreeSet<&str> = items(&own).chain(items(&seen)).map(|(_, what)| what).collect();
    let is_new = |(status, what): &(&str, &str)| *status == "open" && !known.contains(what);
    let added: Vec<String> =
        items(&theirs).filter(is_new).map(|(_, what)| format!("- [ ] {what}\n")).collect();
    if !added.is_empty() {
        let gap = if own.is_empty() || own.ends_with('\n') { "" } else { "\n" };
        let mut file = File::options().append(true).open(&path)?;
        file.write_all(format!("{gap}{}", added.concat()).as_bytes())?;
        durable::write(dir, SEEN, theirs.as_bytes())?;
    }
    Ok(added.len())
}

/// The list where it came from, if it did and is there.
fn theirs(session: &Session) -> Option<String> {
    let from = session.ahead.looped.as_ref()?.spec.file.as_ref()?.from.as_ref()?;
    text_of(Path::new(from).parent()?, Path::new(from)).ok()
}

/// The worktree of a loop, and its list in it.
fn place(session: &Session) -> Option<(&Path, PathBuf)> {
    let file = session.ahead.looped.as_ref()?.spec.file.as_ref()?;
    let worktree = Path::new(session.place.worktree.as_ref()?);
    Some((worktree, worktree.join(&file.path)))
}

/// The text of a list. What is longer is counted as far as it is read.
fn text_of(inside: &Path, path: &Path) -> io::Result<String> {
    let opened = regular::open_inside(inside, path)?;
    let mut text = Vec::new();
    opened.take(SPEC_BYTES_MAX).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn count(text: &str) -> Tally {
    Tally::of(items(text).map(|(status, _)| status))
}

/// The items of a list in Markdown, and what each is about. What stands between fences is an example.
fn items(text: &str) -> impl Iterator<Item = (&'static str, &str)> {
    let mut fenced = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        let status = status(line).filter(|_| !fenced)?;
        Some((status, line.split_once(']').map_or("", |(_, what)| what.trim())))
    })
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
