//! Edits of files: in the worktree, and none of the files that decide what other programs do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::place::Place;
use crate::why::Why;

/// Folders and files, wherever they lie in a worktree, that git, a build server, an editor, a shell
/// or an agent acts upon.
const STEERING: &[&str] = &[
    ".aider.conf.yml",
    ".amazonq",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazelrc",
    ".buildkite",
    ".cargo",
    ".ci",
    ".circleci",
    ".claude",
    ".clinerules",
    ".codex",
    ".config",
    ".continue",
    ".cursor",
    ".cursorrules",
    ".devcontainer",
    ".direnv",
    ".drone.yml",
    ".envrc",
    ".exrc",
    ".forgejo",
    ".gdbinit",
    ".gemini",
    ".git",
    ".gitattributes",
    ".gitconfig",
    ".gitea",
    ".githooks",
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".glis",
    ".gnupg",
    ".husky",
    ".idea",
    ".inputrc",
    ".kilocode",
    ".kiro",
    ".lefthook",
    ".lldbinit",
    ".local",
    ".mcp.json",
    ".mise.toml",
    ".npmrc",
    ".nvimrc",
    ".opencode",
    ".pam_environment",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".roo",
    ".ssh",
    ".tmux.conf",
    ".tool-versions",
    ".travis.yml",
    ".vimrc",
    ".vscode",
    ".windsurf",
    ".windsurfrules",
    ".woodpecker",
    ".woodpecker.yml",
    ".xinitrc",
    ".xprofile",
    ".yarn",
    ".yarnrc",
    ".yarnrc.yml",
    ".zed",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "agents.md",
    "appveyor.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "claude.md",
    "cloudbuild.yaml",
    "gemini.md",
    "hooks",
    "jenkinsfile",
    "lefthook.yml",
    "mise.toml",
    "sitecustomize.py",
];

/// Whether a file may be edited without asking.
pub(crate) fn check(path: &str, place: &Place) -> Result<(), Why> {
    let real = place.inside(path)?;
    let below = place.below(&real);
    let steers = |part: &std::ffi::OsStr| {
        // Some file systems take no notice of case, nor of characters that cannot be seen.
        let part = part.to_string_lossy().to_lowercase();
        let plain: String = part.chars().filter(char::is_ascii).collect();
        STEERING.contains(&plain.as_str())
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
            ".g\u{200c}it/config",
            ".hus\u{212a}y/pre-commit",
            "CLAUDE.md",
            "sub/.cargo/config.toml",
            ".npmrc",
            ".bashrc",
            ".ssh/authorized_keys",
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
