//! Worktrees before and after: their portraits, and a worktree in every kind of disorder.

use crate::support::house::{House, Outcome};
use crate::support::portrait::Portrait;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A worktree as a user and git see it.
pub(crate) fn portrait(tree: &Path) -> Outcome<Portrait> {
    let looked = |dir: &Path, args: &[&str]| {
        let said = git(dir, args).map_err(|fault| io::Error::other(fault.to_string()))?;
        Ok(said.into_bytes())
    };
    Ok(Portrait::of(&looked, tree)?)
}

/// The worktree is what it was.
pub(crate) fn is_as(before: &Portrait, tree: &Path) -> Outcome {
    let differences = before.differences(&portrait(tree)?);
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n").into()) }
}

pub(crate) fn git(dir: &Path, args: &[&str]) -> Outcome<String> {
    let output = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output()?;
    if !output.status.success() {
        return Err(format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A paused session whose worktree is in every kind of disorder, a merge conflict included.
pub(crate) fn disordered(house: &House, name: &str) -> Outcome<PathBuf> {
    house.rehearsal(name)?;
    house.turn(name, &format!("write by-agent.txt {name}"))?;
    let tree = house.file(name, "")?;
    let put = |path: &str, text: &str| fs::write(tree.join(path), text);
    put("both.txt", "base\n")?;
    git(&tree, &["add", "both.txt"])?;
    git(&tree, &["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "base"])?;
    let here = git(&tree, &["rev-parse", "--abbrev-ref", "HEAD"])?.trim().to_owned();
    let other = format!("other-{name}");
    git(&tree, &["checkout", "-q", "-b", &other])?;
    put("both.txt", "theirs\n")?;
    git(&tree, &["-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "theirs"])?;
    git(&tree, &["checkout", "-q", &here])?;
    put("both.txt", "ours\n")?;
    git(&tree, &["-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "ours"])?;
    git(&tree, &["-c", "user.name=n", "-c", "user.email=e", "merge", &other]).err();
    put("staged.txt", "staged\n")?;
    git(&tree, &["add", "staged.txt"])?;
    put("staged.txt", "and changed\n")?;
    put("untracked.txt", &format!("only of {name}\n"))?;
    fs::set_permissions(tree.join("untracked.txt"), fs::Permissions::from_mode(0o755))?;
    std::os::unix::fs::symlink("nowhere", tree.join("dangling"))?;
    house.json(&["pause", name])?;
    Ok(tree)
}
