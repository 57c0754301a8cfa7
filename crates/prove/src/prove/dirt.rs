//! Worktrees in the states that work leaves them in: half staged, half written, in the middle of a
//! merge.

use crate::stage::Stage;
use anyhow::{Context as _, Result, ensure};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dirt {
    Merge,
    Rebase,
    Mixed,
    Odd,
    Nested,
}

impl Dirt {
    pub(super) const ALL: [Self; 5] =
        [Self::Merge, Self::Rebase, Self::Mixed, Self::Odd, Self::Nested];

    /// The session that works in it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::Mixed => "mixed",
            Self::Odd => "odd",
            Self::Nested => "nested",
        }
    }

    /// What is special about it.
    pub(super) fn story(self) -> &'static str {
        match self {
            Self::Merge => "a merge conflict in progress",
            Self::Rebase => "a rebase in progress",
            Self::Mixed => "staged, unstaged, deleted and half added",
            Self::Odd => "odd names, modes, links and line ends",
            Self::Nested => "a dirty submodule and a repository without a commit",
        }
    }
}

/// The agent of every session writes here; git has never heard of them.
pub(super) const JOURNAL: &str = "journal.txt";
pub(super) const SLOW: &str = "slow.txt";

/// Fills the repository: files of many kinds, and two branches that collide with everybody's.
pub(super) fn plant(stage: &Stage) -> Result<()> {
    let repo = stage.repo();
    let library = stage.root().join("library");
    std::fs::create_dir(&library)?;
    stage.found_in(&library)?;
    put(&library, "lib.c", "int answer = 42;\n")?;
    stage.git_in(&library, &["add", "--all"])?;
    stage.git_in(&library, &["commit", "--quiet", "--message=library"])?;
    for (path, text) in [
        (".gitattributes", "*.dos text eol=crlf\n"),
        ("story.txt", "one\ntwo\nthree\n"),
        ("src/main.c", "int main(void) { return 0; }\n"),
        ("src/deep/er.c", "int er;\n"),
        ("run.sh", "#!/bin/sh\n"),
        ("plain.sh", "#!/bin/sh\n"),
        ("gone.txt", "soon gone\n"),
        ("letter.dos", "dear\nyou\n"),
    ] {
        put(&repo, path, text)?;
    }
    mode(&repo, "run.sh", 0o755)?;
    symlink("story.txt", repo.join("link"))?;
    let url = library.to_string_lossy().into_owned();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "library"];
    stage.git(&add)?;
    stage.commit("A project")?;
    stage.git(&["checkout", "--quiet", "-b", "side"])?;
    put(&repo, "story.txt", "one\nTWO, they say\nthree\n")?;
    put(&repo, "src/main.c", "int main(void) { return 1; }\n")?;
    stage.commit("Another opinion")?;
    stage.git(&["checkout", "--quiet", "main"])?;
    // The user's own stash, which glis must never touch.
    put(&repo, "story.txt", "kept for later\n")?;
    stage.git(&["stash", "push", "--quiet"])?;
    Ok(())
}

/// Makes a mess of a fresh worktree.
pub(super) fn make(stage: &Stage, tree: &Path, dirt: Dirt) -> Result<()> {
    match dirt {
        Dirt::Merge => merge(stage, tree)?,
        Dirt::Rebase => rebase(stage, tree)?,
        Dirt::Mixed => mixed(stage, tree)?,
        Dirt::Odd => odd(stage, tree)?,
        Dirt::Nested => nested(stage, tree)?,
    }
    put(tree, JOURNAL, "it begins\n")?;
    put(tree, SLOW, "slowly\n")
}

/// Runs git where it has to end in a conflict.
fn collide(stage: &Stage, tree: &Path, args: &[&str]) -> Result<()> {
    let output = stage.git_output(tree, args)?;
    ensure!(!output.status.success(), "git {} did not collide", args.join(" "));
    let unmerged = stage.git_in(tree, &["ls-files", "--unmerged"])?;
    ensure!(!unmerged.is_empty(), "git {} left no conflict", args.join(" "));
    Ok(())
}

fn our_opinion(stage: &Stage, tree: &Path) -> Result<()> {
    put(tree, "story.txt", "one\n2, we say\nthree\n")?;
    put(tree, "src/main.c", "int main(void) { return 2; }\n")?;
    stage.git_in(tree, &["commit", "--quiet", "--all", "--message=Our opinion"])?;
    Ok(())
}

fn merge(stage: &Stage, tree: &Path) -> Result<()> {
    our_opinion(stage, tree)?;
    collide(stage, tree, &["merge", "side"])?;
    // One conflict half solved, one resolved and staged, and work beside it.
    put(tree, "story.txt", "one\n<<<<<<< both of us\nthree\n")?;
    put(tree, "src/main.c", "int main(void) { return 3; }\n")?;
    stage.git_in(tree, &["add", "src/main.c"])?;
    put(tree, "notes/merge.txt", "why we disagree\n")
}

fn rebase(stage: &Stage, tree: &Path) -> Result<()> {
    our_opinion(stage, tree)?;
    put(tree, "later.txt", "a second commit\n")?;
    stage.git_in(tree, &["add", "later.txt"])?;
    stage.git_in(tree, &["commit", "--quiet", "--message=Later"])?;
    collide(stage, tree, &["rebase", "side"])?;
    put(tree, "notes/rebase.txt", "one of two\n")
}

fn mixed(stage: &Stage, tree: &Path) -> Result<()> {
    put(tree, "story.txt", "one\nstaged\n")?;
    stage.git_in(tree, &["add", "story.txt"])?;
    put(tree, "story.txt", "one\nstaged\nand not staged\n")?;
    std::fs::remove_file(tree.join("gone.txt"))?;
    stage.git_in(tree, &["rm", "--quiet", "--cached", "src/deep/er.c"])?;
    put(tree, "promised.txt", "intent to add\n")?;
    stage.git_in(tree, &["add", "--intent-to-add", "promised.txt"])?;
    put(tree, "brand/new/file.txt", "untracked\n")?;
    mode(tree, "run.sh", 0o644)?;
    mode(tree, "plain.sh", 0o755)?;
    stage.git_in(tree, &["add", "plain.sh"])?;
    Ok(())
}

fn odd(stage: &Stage, tree: &Path) -> Result<()> {
    put_bytes(tree, b"not utf-8 \xff\xfe", b"bytes\n")?;
    put_bytes(tree, b"new\nline", b"\0\x01\x02")?;
    put(tree, "-rf", "looks like an option\n")?;
    put(tree, " blanks ", "")?;
    put(tree, "secret", "only mine\n")?;
    mode(tree, "secret", 0o600)?;
    put(tree, "letter.dos", "dear\nmixed\r\nends\r")?;
    symlink("/nowhere/at/all", tree.join("dangling"))?;
    std::fs::remove_file(tree.join("link"))?;
    symlink("src", tree.join("link"))?;
    put(tree, "tracked \u{e9}", "staged\n")?;
    stage.git_in(tree, &["add", "tracked \u{e9}"])?;
    std::fs::remove_file(tree.join("plain.sh"))?;
    put(tree, "plain.sh/now a folder", "in place of a file\n")
}

fn nested(stage: &Stage, tree: &Path) -> Result<()> {
    let update = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"];
    stage.git_in(tree, &update)?;
    put(tree, "library/lib.c", "int answer = 43;\n")?;
    stage.git_in(&tree.join("library"), &["add", "lib.c"])?;
    put(tree, "library/untracked.c", "int more;\n")?;
    let inner = tree.join("inner");
    std::fs::create_dir(&inner)?;
    stage.git_in(&inner, &["init", "--quiet", "--initial-branch=main", "."])?;
    put(&inner, "first.txt", "no commit yet\n")?;
    stage.git_in(&inner, &["add", "first.txt"])?;
    put(&inner, "second.txt", "not even added\n")
}

pub(super) fn put(dir: &Path, path: &str, text: &str) -> Result<()> {
    put_bytes(dir, path.as_bytes(), text.as_bytes())
}

fn put_bytes(dir: &Path, path: &[u8], bytes: &[u8]) -> Result<()> {
    let path = dir.join(OsStr::from_bytes(path));
    std::fs::create_dir_all(path.parent().context("a folder")?)?;
    std::fs::write(&path, bytes).with_context(|| path.display().to_string())
}

fn mode(dir: &Path, path: &str, mode: u32) -> Result<()> {
    Ok(std::fs::set_permissions(dir.join(path), std::fs::Permissions::from_mode(mode))?)
}
