//! A restore by a strict process gives back the rights that were there, git's own files included.

use crate::house::{House, Outcome, alone, git, mode, put};
use crate::nested::{add_submodule, dirty, make_repo};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What may be done with each file and folder, whoever it belongs to.
fn all(top: &Path) -> Outcome<BTreeMap<PathBuf, u32>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![top.to_owned()];
    while let Some(path) = waiting.pop() {
        let meta = fs::symlink_metadata(&path)?;
        if meta.is_symlink() {
            continue;
        }
        found.insert(path.strip_prefix(top)?.to_owned(), meta.mode() & 0o7777);
        if meta.is_dir() {
            waiting.extend(fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
        }
    }
    Ok(found)
}

/// Git packs objects as it likes, and makes examples that nobody needs.
fn comes_back(path: &Path) -> bool {
    let text = path.to_string_lossy();
    !text.contains(".sample") && !text.contains("/objects/")
}

fn strict_restore() -> Outcome {
    let house = House::new()?;
    add_submodule(&house)?;
    house.git(&["commit", "-q", "-m", "with sub"])?;
    house.git(&["worktree", "add", "-q", "-b", "topic", "inside"])?;
    let nest = house.tree.join("nest");
    make_repo(&nest)?;
    git(&nest, &["branch", "deep/er"])?;
    put(&nest, ".git/hooks/pre-commit", "#!/bin/sh\n")?;
    mode(&nest, ".git/hooks/pre-commit", 0o755)?;
    dirty(&nest)?;
    let shut = house.tree.join("shut");
    let usual = rustix::process::umask(0o027.into());
    make_repo(&shut)?;
    rustix::process::umask(usual);
    for rights in [0o755, 0o750] {
        mode(&house.tree, ".", rights)?;
        let record = |top: &Path| all(&git_dir(top)?);
        let (before, admin) = (all(&house.tree)?, record(&house.tree)?);
        let saved = house.save()?;
        let inside = house.tree.join("inside").to_string_lossy().into_owned();
        git(&house.repo, &["worktree", "remove", "-f", "-f", &inside])?;
        house.destroy()?;
        let usual = rustix::process::umask(0o077.into());
        house.restore(&saved.reference, &house.tree)?;
        rustix::process::umask(usual);
        for (was, is) in [(before, all(&house.tree)?), (admin, record(&house.tree)?)] {
            let show = |path: &PathBuf, rights: &u32| format!("{} {rights:o}", path.display());
            let changed =
                was.iter().filter(|(path, _)| comes_back(path)).filter_map(|(path, was)| {
                    let is = is.get(path)?;
                    (is != was).then(|| format!("{} -> {is:o}", show(path, was)))
                });
            assert_eq!(changed.collect::<Vec<String>>(), Vec::<String>::new());
        }
        let is = all(&house.tree)?;
        for path in ["", ".git", "sub/.git", "inside/.git", "nest/.git/config", "nest/.git/index"] {
            assert!(is.contains_key(Path::new(path)), "{path} came back");
        }
        let packs = is.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "pack"));
        let packs: Vec<u32> = packs.map(|(_, rights)| *rights).collect();
        assert_eq!(packs, [0o444, 0o440], "a repository's history can be read by who could");
    }
    Ok(())
}

fn git_dir(tree: &Path) -> Outcome<PathBuf> {
    Ok(PathBuf::from(git(tree, &["rev-parse", "--absolute-git-dir"])?.trim_end()))
}

#[test]
fn a_strict_process_restores_the_rights_that_were_there() -> Outcome {
    alone("rights::a_strict_process_restores_the_rights_that_were_there", strict_restore)
}
