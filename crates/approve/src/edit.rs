//! Edits of files: in the worktree, and none of the files that decide what other programs do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::place::Place;
use crate::why::Why;

/// Folders and files, wherever they lie in a worktree, that git, a build server, an editor, a shell
/// or an agent acts upon.
const STEERING: &[&str] = &[
    ".buildkite",
    ".ci",
    ".circleci",
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".envrc",
    ".gemini",
    ".git",
    ".gitattributes",
    ".githooks",
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".glis",
    ".husky",
    ".mcp.json",
    ".opencode",
    ".pre-commit-config.yaml",
    ".travis.yml",
    ".vscode",
    ".woodpecker",
    ".woodpecker.yml",
    "hooks",
    "jenkinsfile",
];

/// Whether a file may be edited without asking.
pub(crate) fn check(path: &str, place: &Place) -> Result<(), Why> {
    let real = place.inside(path)?;
    let below = place.below(&real);
    let steers = |part: &std::ffi::OsStr| {
        let part = part.to_string_lossy().to_ascii_lowercase();
        STEERING.contains(&part.as_str())
    };
    if below.as_os_str().is_empty() || below.iter().any(steers) || is_executable(&real) {
        return Err(Why::Steers { path: path.to_owned() });
    }
    Ok(())
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_that_steer_others_are_left_to_a_person() {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path();
        fs::create_dir_all(tree.join(".github/workflows")).unwrap();
        fs::create_dir_all(tree.join("src")).unwrap();
        for file in ["src/a.rs", "run"] {
            fs::write(tree.join(file), "x").unwrap();
        }
        fs::set_permissions(tree.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink(".github/workflows", tree.join("innocent")).unwrap();
        symlink("../run", tree.join("src/also")).unwrap();
        let place = Place::new(tree, tree, OsStr::new("/usr/bin")).unwrap();
        for path in ["src/a.rs", "src/new.rs", "src/deep/new.rs"] {
            assert_eq!(check(path, &place), Ok(()), "{path}");
        }
        for path in [
            ".git/config",
            ".git/hooks/pre-commit",
            ".GIT/config",
            ".github/workflows/x.yml",
            "innocent/x.yml",
            "sub/.git",
            ".glis/plan.toml",
            ".claude/settings.json",
            "run",
            "src/also",
            ".gitlab-ci.yml",
            "Jenkinsfile",
            "tools/hooks/post-merge",
            ".",
            "src",
        ] {
            let wanted = Err(Why::Steers { path: path.to_owned() });
            assert_eq!(check(path, &place), wanted, "{path}");
        }
        for path in ["../x", "/etc/passwd"] {
            assert_eq!(check(path, &place), Err(Why::PathOutside { path: path.to_owned() }));
        }
    }
}
