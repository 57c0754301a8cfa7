//! What else has to be told when a worktree moves: its submodules and the worktrees inside it, which
//! name the place they are at.

use crate::admin::{Record, records};
use crate::fault::{About as _, SnapshotFault};
use crate::git::{GitFault, checked, offline};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The repositories inside one worktree that name their place.
#[derive(Debug, Default)]
pub(crate) struct Insides {
    /// Git's own folder of each submodule, and where its files are below the worktree.
    submodules: Vec<(PathBuf, PathBuf)>,
    worktrees: Vec<(Record, PathBuf)>,
}

impl Insides {
    /// Looks for them in the worktree at `root`; they name their places below `named`, which is
    /// where the worktree is or was.
    pub(crate) fn of(common: &Path, root: &Path, named: &Path) -> Self {
        let named = real(named);
        let mut found = Self::default();
        if let Some(own) = Record::named_by(common, root) {
            find_submodules(&own.dir.join("modules"), &named, &mut found.submodules);
        }
        for record in records(common) {
            let below = record.path.as_deref().map(real);
            let below = below.and_then(|path| path.strip_prefix(&named).ok().map(Path::to_owned));
            if let Some(below) = below.filter(|below| !below.as_os_str().is_empty()) {
                let modules = record.dir.join("modules");
                find_submodules(&modules, &named, &mut found.submodules);
                found.worktrees.push((record, below));
            }
        }
        found
    }

    /// Git's records of the worktrees inside.
    pub(crate) fn worktrees(&self) -> impl Iterator<Item = &Record> {
        self.worktrees.iter().map(|(record, _)| record)
    }

    /// Tells git that all of them are below `to`.
    pub(crate) fn point_to(&self, to: &Path) -> Result<(), SnapshotFault> {
        for (git_dir, below) in &self.submodules {
            let output = settings(git_dir)
                .arg("core.worktree")
                .arg(to.join(below))
                .output()
                .map_err(GitFault::NotRun)?;
            checked(output, "config")?;
        }
        self.worktrees.iter().try_for_each(|(record, below)| record.point_to(&to.join(below)))
    }

    /// Tells the submodules, in whose worktree at `to` they are, where git keeps their files: they
    /// may have named that as seen from the former place.
    pub(crate) fn look_back(&self, to: &Path) -> Result<(), SnapshotFault> {
        for (git_dir, below) in &self.submodules {
            let file = to.join(below).join(".git");
            let line = [b"gitdir: ", git_dir.as_os_str().as_bytes(), b"\n"].concat();
            fs::write(&file, line).about(&file)?;
        }
        Ok(())
    }
}

/// Finds the submodules that name a place below `named`. A submodule's name may have slashes in it.
fn find_submodules(modules: &Path, named: &Path, found: &mut Vec<(PathBuf, PathBuf)>) {
    for entry in fs::read_dir(modules).into_iter().flatten().flatten() {
        let git_dir = entry.path();
        if !git_dir.join("HEAD").is_file() {
            if git_dir.is_dir() {
                find_submodules(&git_dir, named, found);
            }
            continue;
        }
        let said = settings(&git_dir).args(["--get", "core.worktree"]).output();
        let said = said.ok().filter(|output| output.status.success());
        let at = said.map(|output| {
            let line = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
            real(&git_dir.join(OsStr::from_bytes(line)))
        });
        if let Some(below) = at.as_deref().and_then(|at| at.strip_prefix(named).ok()) {
            found.push((git_dir.clone(), below.to_owned()));
        }
        find_submodules(&git_dir.join("modules"), named, found);
    }
}

/// A call of git about the settings of a repository, from outside of it: git would go to the place
/// that they name, which may be gone.
pub(crate) fn settings(git_dir: &Path) -> Command {
    let mut command = offline(Path::new("/"));
    command.args(["config", "--file"]).arg(git_dir.join("config"));
    command
}

/// The path without links and dots. What does not exist is taken as it is written.
pub(crate) fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let Some(above) = path.parent().filter(|above| *above != Path::new("")) else {
        return path.to_owned();
    };
    let above = real(above);
    match path.components().next_back() {
        Some(Component::ParentDir) => above.parent().map(Path::to_owned).unwrap_or(above),
        Some(Component::Normal(name)) => above.join(name),
        _ => above,
    }
}

/// A hidden folder beside a worktree, for what is on its way in or out.
pub(crate) fn hidden_sibling(worktree: &Path, word: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(worktree.file_name().unwrap_or_default());
    name.push(format!(".glis-{word}"));
    worktree.with_file_name(name)
}
