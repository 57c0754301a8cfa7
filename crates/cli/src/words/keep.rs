//! How snapshots, differences and the trash read.

use super::{ago, house, plain};
use crate::width::width as width_of;
use glis_core::tree::{Found, PathList};
use glis_wire::view::{
    CompactionView, DetachedView, ElsewhereView, FileDiffView, MergeView, SessionView,
    SnapshotView, TrashView,
};

/// How the worktree was found before a start, where there is something to tell.
pub(crate) fn found(found: &Found) -> Option<String> {
    match found {
        Found::Untouched => None,
        Found::Changed { snapshot, paths } => Some(format!(
            "its files changed while it slept, nothing was overwritten: {} ({} is how they were found)",
            list(paths),
            id_of(&snapshot.name)
        )),
        Found::Restored { snapshot, notes } => {
            let notes =
                if notes.is_empty() { String::new() } else { format!("; {}", notes.join("; ")) };
            Some(format!(
                "its worktree was gone and is restored from {}{notes}",
                id_of(&snapshot.name)
            ))
        }
    }
}

/// What a pause has kept, and what that costs.
pub(crate) fn process(s: &SessionView) -> String {
    let pid = s.pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    let taken = s.memory_bytes.map_or_else(
        || "its memory stays".to_owned(),
        |bytes| format!("{} stay", house::amount(bytes)),
    );
    format!("kept{pid}, stopped in place; {taken} taken, and a resume goes on in it")
}

/// Some paths in one line.
pub(crate) fn list(paths: &PathList) -> String {
    plain(&paths.line())
}

/// The last part of a snapshot's ref: what a person types.
fn id_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

pub(crate) fn taken(s: &SessionView, snapshot: &SnapshotView) -> String {
    let changed = files(snapshot.changed);
    let mut lines =
        vec![format!("`{}` is saved as {}: {changed} beyond HEAD", s.name, id_of(&snapshot.name))];
    lines.extend(left_out(snapshot));
    lines.join("\n")
}

fn files(number: usize) -> String {
    if number == 1 { "1 path".to_owned() } else { format!("{number} paths") }
}

fn left_out(snapshot: &SnapshotView) -> Option<String> {
    let paths = snapshot.not_captured.iter().map(|item| format!("{} ({})", item.path, item.why));
    let paths = PathList::of(paths);
    (paths.total > 0).then(|| format!("not in it: {}", list(&paths)))
}

/// What `compact` prints: what a conversation comes down to.
pub(crate) fn compacted(s: &SessionView, view: &CompactionView, already: bool) -> String {
    let (name, entries) = (&s.name, view.entries);
    let first = if already && s.is_compacted {
        format!(
            "the conversation of `{name}` is compacted already, and too little was said since: {entries} \
             entries in all"
        )
    } else if already {
        format!("the conversation of `{name}` has {entries} entries: too short to be compacted")
    } else {
        format!(
            "the conversation of `{name}` is compacted: {entries} entries in all, the latest are kept as \
             they are; `glis log {name}` still shows every word"
        )
    };
    let summary = view.summary.lines().map(plain);
    [plain(&first), String::new()].into_iter().chain(summary).collect::<Vec<_>>().join("\n")
}

pub(crate) fn snapshots(name: &str, snapshots: &[SnapshotView]) -> String {
    if snapshots.is_empty() {
        return format!("`{name}` has no snapshot yet; `glis snapshot {name}` takes one");
    }
    let lines = snapshots.iter().map(|snapshot| {
        let since = match &snapshot.since_before {
            Some(paths) if paths.total == 0 => "same files as the one before".to_owned(),
            Some(paths) => format!("since the one before: {}", list(paths)),
            None => "the first".to_owned(),
        };
        let left_out = left_out(snapshot).map_or(String::new(), |left| format!("\n    {left}"));
        format!(
            "{}  {:>4} ago  {}: {} beyond HEAD, {since}{left_out}",
            id_of(&snapshot.name),
            ago(&snapshot.at),
            plain(&snapshot.why),
            files(snapshot.changed)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// That a worktree stands on no branch, and the way out.
pub(super) fn detached(detached: &DetachedView) -> String {
    let DetachedView { commit, why, way_out } = detached;
    format!("at {commit}, on no branch: {why}; `{way_out}` is the way out")
}

/// That an agent works outside of its worktree, and how its work gets there.
pub(super) fn elsewhere(elsewhere: &ElsewhereView) -> String {
    let ElsewhereView { folder, way_back } = elsewhere;
    let back = match way_back {
        Some(line) => format!("`{line}` brings it into the worktree"),
        None => "so copy what you want to keep into the worktree".to_owned(),
    };
    format!(
        "; its agent works in {folder}, outside of its worktree: what it makes there is in no snapshot, {back}"
    )
}

pub(crate) fn stat(files: &[FileDiffView]) -> String {
    let width = files.iter().map(|file| width_of(&plain(&file.path))).max().unwrap_or(0);
    let mut lines: Vec<String> = files
        .iter()
        .map(|file| {
            let path = plain(&file.path);
            let pad = " ".repeat(width.saturating_sub(width_of(&path)));
            match (file.added, file.removed) {
                (Some(added), Some(removed)) => format!("{path}{pad}  +{added} -{removed}"),
                (_, _) => format!("{path}{pad}  binary"),
            }
        })
        .collect();
    let sum = |of: fn(&FileDiffView) -> Option<u64>| files.iter().filter_map(of).sum::<u64>();
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    lines.push(match files.len() {
        0 => "nothing differs".to_owned(),
        1 => format!("1 file, +{added} -{removed}"),
        number => format!("{number} files, +{added} -{removed}"),
    });
    lines.join("\n")
}

pub(crate) fn merged(merged: &MergeView) -> String {
    let MergeView { session, into, branch, .. } = merged;
    let commit: String = merged.commit.chars().take(12).collect();
    let Some((at, next)) = merged.checked_out.as_ref().zip(merged.next.as_ref()) else {
        return if merged.already {
            format!("{into} already has everything of `{session}` ({commit})")
        } else {
            format!("`{session}` is merged into {into} ({commit})")
        };
    };
    let at = plain(at);
    format!(
        "{into} is checked out in {at}, so it was not moved; the result is {branch} ({commit})\n\
         to take it over, type in {at}:\n  {next}"
    )
}

pub(crate) fn restored(s: &SessionView) -> String {
    let place = s.worktree.as_deref().unwrap_or("-");
    match &s.restored {
        Some(restored) => restored_to(place, &restored.snapshot.name, &restored.notes),
        None => format!("{place} is restored"),
    }
}

/// What `restore --to` says. The copy is a worktree of the repository, locked against being tidied
/// away.
pub(crate) fn copied_to(path: &str, snapshot: &str, notes: &[String]) -> String {
    let restored = restored_to(path, snapshot, notes);
    format!("{restored}\n`git worktree remove --force --force {path}` removes this copy")
}

fn restored_to(path: &str, snapshot: &str, notes: &[String]) -> String {
    let mut lines = vec![format!("{path} is as in {}", id_of(snapshot))];
    lines.extend(notes.iter().map(|note| format!("note: {}", plain(note))));
    lines.join("\n")
}

/// What `trash list` prints.
pub(crate) fn trash(removed: &[TrashView]) -> String {
    if removed.is_empty() {
        return "The trash is empty.".to_owned();
    }
    let lines = removed.iter().map(|item| {
        let until = item.deadline.get(..10).unwrap_or(&item.deadline);
        let until = if item.due { "due".to_owned() } else { format!("kept until {until}") };
        let branch = item.branch.as_ref().map_or(String::new(), |b| format!(", branch {b}"));
        let (name, id, agent) = (&item.name, &item.id, &item.agent);
        format!("{name}  {id}  {agent}{branch}, removed {} ago, {until}", ago(&item.removed_at))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What `trash restore` says.
pub(crate) fn returned(s: &SessionView) -> String {
    let next =
        if s.can_resume { format!("; `glis resume {}` goes on", s.name) } else { String::new() };
    format!("`{}` is back, {}{next}", s.name, s.status.word())
}

/// What `trash empty` says.
pub(crate) fn emptied(names: &[String], left: usize) -> String {
    let kept = match left {
        0 => String::new(),
        1 => "; 1 session stays until its deadline".to_owned(),
        number => format!("; {number} sessions stay until their deadline"),
    };
    match names {
        [] => format!("nothing was deleted{kept}"),
        names => format!("deleted for good: {}{kept}", names.join(", ")),
    }
}
