//! Edits of files: what git tracks, or what lies in folders that the user names, and never a file that
//! decides what other programs do.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::why::Why;

/// Which files may be written without asking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "Written", into = "Written")]
pub enum Edits {
    #[default]
    None,
    /// Those that git tracks.
    Tracked,
    /// Those in these folders of the worktree, new ones too.
    Folders(Vec<String>),
}

/// The form in a file: `true`, `false`, or a list of folders.
#[derive(Deserialize, Serialize)]
#[serde(untagged, expecting = "expected true, false or a list of folders")]
enum Written {
    All(bool),
    Folders(Vec<String>),
}

impl From<Written> for Edits {
    fn from(written: Written) -> Self {
        match written {
            Written::All(true) => Self::Tracked,
            Written::All(false) => Self::None,
            Written::Folders(folders) => Self::Folders(folders),
        }
    }
}

impl From<Edits> for Written {
    fn from(edits: Edits) -> Self {
        match edits {
            Edits::None => Self::All(false),
            Edits::Tracked => Self::All(true),
            Edits::Folders(folders) => Self::Folders(folders),
        }
    }
}

impl Edits {
    /// The first folder that is none below the worktree's root, seen from there.
    pub fn odd_folder(&self) -> Option<&str> {
        let Self::Folders(folders) = self else { return None };
        let below = |folder: &&String| {
            let mut parts = Path::new(folder.as_str()).components();
            !folder.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        folders.iter().find(|folder| !below(folder)).map(String::as_str)
    }
}

/// Files and folders, wherever they lie, that a build, a test run, a build server, an editor or an agent acts
/// upon. Whatever begins with a dot counts as one, also without being here.
const CONFIGURATION: &[&str] = &[
    "agents.md",
    "agents.override.md",
    "appveyor.yml",
    "azure-pipelines.yaml",
    "azure-pipelines.yml",
    "biome.json",
    "bitbucket-pipelines.yml",
    "build",
    "build.gradle",
    "build.gradle.kts",
    "build.rs",
    "build.xml",
    "buildspec.yaml",
    "buildspec.yml",
    "bunfig.toml",
    "cargo.toml",
    "claude.local.md",
    "claude.md",
    "cloudbuild.yaml",
    "cmakelists.txt",
    "codemagic.yaml",
    "composer.json",
    "conftest.py",
    "containerfile",
    "copilot-instructions.md",
    "crush.json",
    "deno.json",
    "deno.jsonc",
    "devbox.json",
    "devcontainer.json",
    "docker-compose.yaml",
    "docker-compose.yml",
    "dockerfile",
    "earthfile",
    "flake.nix",
    "gemfile",
    "gemini.md",
    "gnumakefile",
    "go.mod",
    "go.sum",
    "go.work",
    "gradle.properties",
    "gruntfile.js",
    "gulpfile.js",
    "hooks",
    "jenkinsfile",
    "justfile",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "lerna.json",
    "llms.txt",
    "makefile",
    "mcp.json",
    "meson.build",
    "mise.toml",
    "module.bazel",
    "noxfile.py",
    "npm-shrinkwrap.json",
    "nx.json",
    "opencode.json",
    "opencode.jsonc",
    "package.json",
    "package.swift",
    "pipfile",
    "pnpm-workspace.yaml",
    "podfile",
    "pom.xml",
    "procfile",
    "pyproject.toml",
    "pytest.ini",
    "qwen.md",
    "rakefile",
    "rebar.config",
    "rust-toolchain",
    "rust-toolchain.toml",
    "settings.gradle",
    "settings.gradle.kts",
    "setup.cfg",
    "setup.py",
    "shell.nix",
    "sitecustomize.py",
    "skaffold.yaml",
    "taskfile.yaml",
    "taskfile.yml",
    "tiltfile",
    "toolchain.toml",
    "tox.ini",
    "tsconfig.json",
    "turbo.json",
    "usercustomize.py",
    "vagrantfile",
    "warp.md",
    "werf.yaml",
    "workspace",
];

/// Parts of names of such files.
const IN_NAMES: [&str; 4] = [".config.", ".local.", "-lock.", "requirements"];

/// Ends of names of such files.
const AT_END: [&str; 17] = [
    ".bazel",
    ".bzl",
    ".cabal",
    ".cmake",
    ".code-workspace",
    ".csproj",
    ".dockerfile",
    ".gemspec",
    ".gradle",
    ".lock",
    ".mk",
    ".nix",
    ".props",
    ".pth",
    ".service",
    ".sln",
    ".targets",
];

/// Whether a file may be edited without asking.
pub(crate) fn check(path: &str, edits: &Edits, place: &Place) -> Result<(), Why> {
    let named = || path.to_owned();
    let real = place.inside(path)?;
    let below = place.below(&real);
    if below.as_os_str().is_empty() || below.iter().any(steers) || is_executable(&real) {
        return Err(Why::Steers { path: named() });
    }
    let listed = match edits {
        Edits::None => return Err(Why::Edits),
        Edits::Tracked => place.tracks(below.as_os_str().as_bytes()),
        Edits::Folders(folders) => folders.iter().any(|folder| below.starts_with(folder)),
    };
    if listed { Ok(()) } else { Err(Why::Unlisted { path: named() }) }
}

/// Whether a file of this name, or one in a folder of this name, decides what other programs do.
fn steers(part: &OsStr) -> bool {
    // Some file systems take no notice of case, nor of characters that cannot be seen.
    let part = part.to_string_lossy().to_lowercase();
    let plain: String = part.chars().filter(char::is_ascii).collect();
    plain.starts_with('.')
        || CONFIGURATION.contains(&plain.as_str())
        || IN_NAMES.iter().any(|part| plain.contains(part))
        || AT_END.iter().any(|end| plain.ends_with(end))
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let tree = root.path();
        for folder in [".github/workflows", "src/deep", "tests"] {
            fs::create_dir_all(tree.join(folder)).unwrap();
        }
        for file in
            ["src/a.rs", "run", "tests/a.rs", "README.md", "src/deep/b.rs", "Makefile", ".env"]
        {
            fs::write(tree.join(file), "x").unwrap();
        }
        for words in [&["init", "-q"][..], &["add", "."]] {
            let done = Command::new("git").args(words).current_dir(tree).status().unwrap();
            assert!(done.success());
        }
        fs::write(tree.join("src/untracked.rs"), "x").unwrap();
        fs::set_permissions(tree.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink(".github/workflows", tree.join("innocent")).unwrap();
        symlink("../run", tree.join("src/also")).unwrap();
        symlink("src", tree.join("alias")).unwrap();
        root
    }

    fn told(tree: &Path, edits: &Edits, path: &str) -> Result<(), Why> {
        check(path, edits, &Place::new(tree, tree, OsStr::new("/usr/bin")).unwrap())
    }

    fn folders(folders: &[&str]) -> Edits {
        Edits::Folders(folders.iter().map(|folder| (*folder).to_owned()).collect())
    }

    #[test]
    fn what_git_tracks_may_be_edited_or_what_lies_in_a_folder_that_is_named() {
        let root = tree();
        let unlisted = |path: &str| Err(Why::Unlisted { path: path.to_owned() });
        let in_tests = folders(&["tests", "src/deep"]);
        for (path, tracked, named) in [
            ("src/a.rs", true, false),
            ("README.md", true, false),
            ("alias/a.rs", true, false),
            ("tests/a.rs", true, true),
            ("src/deep/b.rs", true, true),
            ("alias/deep/b.rs", true, true),
            ("tests/new.rs", false, true),
            ("src/deep/further/new.rs", false, true),
            ("src/untracked.rs", false, false),
            ("src/new.rs", false, false),
            ("testsuite/new.rs", false, false),
        ] {
            for (edits, may) in [(&Edits::Tracked, tracked), (&in_tests, named)] {
                let wanted = if may { Ok(()) } else { unlisted(path) };
                assert_eq!(told(root.path(), edits, path), wanted, "{path}: {edits:?}");
            }
            assert_eq!(told(root.path(), &Edits::None, path), Err(Why::Edits), "{path}");
        }
        // Without a list that can be read nothing is known to be tracked.
        fs::remove_file(root.path().join(".git/index")).unwrap();
        assert_eq!(told(root.path(), &Edits::Tracked, "src/a.rs"), unlisted("src/a.rs"));
    }

    #[test]
    fn a_folder_is_named_from_the_root_and_lies_below_it() {
        for odd in ["", ".", "..", "src/..", "../x", "/etc", "./src"] {
            assert_eq!(folders(&["src", odd]).odd_folder(), Some(odd));
        }
        assert_eq!(folders(&["src", "a/b"]).odd_folder(), None);
        assert_eq!(Edits::Tracked.odd_folder(), None);
    }

    #[test]
    fn files_that_steer_others_are_left_to_a_person() {
        let root = tree();
        for path in STEERING {
            for edits in
                [Edits::Tracked, folders(&["src", "sub", "tools", ".github", ".claude", "tests"])]
            {
                let wanted = Err(Why::Steers { path: (*path).to_owned() });
                assert_eq!(told(root.path(), &edits, path), wanted, "{path}");
            }
        }
        for path in ["../x", "/etc/passwd"] {
            let wanted = Err(Why::PathOutside { path: path.to_owned() });
            assert_eq!(told(root.path(), &Edits::Tracked, path), wanted);
        }
    }

    const STEERING: &[&str] = &[
        ".",
        "src",
        "run",
        "src/also",
        "innocent/x.yml",
        "Makefile",
        ".env",
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        ".g\u{200c}it/config",
        ".hus\u{212a}y/pre-commit",
        "sub/.git",
        ".glis/plan.toml",
        "CLAUDE.md",
        "CLAUDE.local.md",
        "AGENTS.md",
        "AGENTS.override.md",
        "GEMINI.md",
        "opencode.json",
        "opencode.jsonc",
        ".mcp.json",
        ".claude/settings.json",
        ".agents/skills/x.md",
        ".qwen/x",
        ".crush.json",
        ".factory/x",
        ".goosehints",
        ".rules",
        ".junie/x",
        ".devcontainer.json",
        ".dir-locals.el",
        ".nvim.lua",
        ".helix/config.toml",
        "x.code-workspace",
        ".Rprofile",
        ".irbrc",
        ".ghci",
        ".hg/hgrc",
        ".jj/repo",
        "rust-toolchain.toml",
        "rust-toolchain",
        ".lefthook.yml",
        "lefthook.yaml",
        ".huskyrc",
        ".mise.local.toml",
        ".mise/config.toml",
        ".cirrus.yml",
        ".builds/x.yml",
        ".gitlab-ci.yaml",
        ".gitlab-ci.yml",
        "azure-pipelines.yaml",
        ".azure-pipelines/x",
        ".semaphore/x",
        ".teamcity/x",
        ".tekton/x",
        "buildspec.yml",
        ".drone.star",
        "usercustomize.py",
        "sitecustomize.py",
        "src/x.pth",
        "Jenkinsfile",
        "tools/hooks/post-merge",
        ".github/workflows/x.yml",
        "sub/.cargo/config.toml",
        ".npmrc",
        ".bashrc",
        ".ssh/authorized_keys",
        "Cargo.toml",
        "Cargo.lock",
        "package.json",
        "package-lock.json",
        "pnpm-lock.yaml",
        "build.rs",
        "conftest.py",
        "tests/conftest.py",
        "vite.config.ts",
        "jest.config.js",
        "settings.local.json",
        "pyproject.toml",
        "requirements-dev.txt",
        "go.mod",
        "Dockerfile",
        "docker-compose.yml",
        "flake.nix",
        "sub/x.mk",
    ];
}
