//! Edits of files: sources that git tracks, or that lie in folders which the user names. Whatever else a file is, it
//! may decide what other programs do.

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

/// Ends of names of files that say something to a person, or are compiled, run or shown because another file says so.
/// What is written as data (JSON, YAML, TOML, XML) may be anybody's configuration.
const SOURCES: &[&str] = &[
    "adoc", "asm", "c", "cc", "clj", "cljs", "cpp", "cs", "css", "cxx", "dart", "elm", "erl", "ex",
    "f90", "fs", "go", "graphql", "h", "hbs", "hh", "hpp", "hrl", "hs", "htm", "html", "java",
    "jl", "js", "jsx", "kt", "less", "lua", "m", "md", "mjs", "ml", "mli", "mm", "nim", "pas",
    "php", "pl", "pm", "proto", "py", "pyi", "r", "rb", "rs", "rst", "s", "sass", "scala", "scss",
    "sql", "svelte", "svg", "swift", "tex", "ts", "tsx", "txt", "vb", "vue", "zig",
];

/// Those among them that a build, a test run, an editor or an agent acts upon.
const STEERING: &[&str] = &[
    "build.rs",
    "build.zig",
    "cmakelists.txt",
    "conanfile.py",
    "conftest.py",
    "constraints.txt",
    "fabfile.py",
    "gruntfile.js",
    "gulpfile.js",
    "llms.txt",
    "meson_options.txt",
    "noxfile.py",
    "package.swift",
    "premake5.lua",
    "setup.py",
    "sitecustomize.py",
    "tasks.py",
    "usercustomize.py",
    "xmake.lua",
];

/// Parts of names of such files.
const IN_NAMES: [&str; 6] =
    [".conf.", ".config.", ".local.", ".setup.", ".workspace.", "requirements"];

/// Pages in capitals that are for people. Agents read the others as what they are told: `CLAUDE.md`, `SKILL.md`.
const PAGES: [&str; 12] = [
    "ARCHITECTURE",
    "AUTHORS",
    "CHANGELOG",
    "CODE_OF_CONDUCT",
    "CONTRIBUTING",
    "GLOSSARY",
    "HISTORY",
    "LICENSE",
    "NEWS",
    "README",
    "ROADMAP",
    "SECURITY",
];

/// Whether a file may be edited without asking.
pub(crate) fn check(path: &str, edits: &Edits, place: &Place) -> Result<(), Why> {
    let named = || path.to_owned();
    let real = place.inside(path)?;
    let below = place.below(&real);
    let is_source = below.file_name().is_some_and(is_source);
    if !is_source || below.iter().any(steers) || is_executable(&real) {
        return Err(Why::Steers { path: named() });
    }
    let listed = match edits {
        Edits::None => return Err(Why::Edits),
        Edits::Tracked => place.tracks(below.as_os_str().as_bytes()),
        Edits::Folders(folders) => folders.iter().any(|folder| below.starts_with(folder)),
    };
    if listed { Ok(()) } else { Err(Why::Unlisted { path: named() }) }
}

/// Whether files in a folder of this name decide what other programs do.
fn steers(part: &OsStr) -> bool {
    // Some file systems take no notice of case, nor of characters that cannot be seen.
    let part: String =
        part.to_string_lossy().to_lowercase().chars().filter(char::is_ascii).collect();
    part.starts_with('.') || part == "hooks"
}

/// Whether a file of this name is written for people, or is code that does nothing by its name alone.
fn is_source(name: &OsStr) -> bool {
    let Some(name) = name.to_str().filter(|name| name.is_ascii()) else { return false };
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    let lower = name.to_lowercase();
    let page = stem.split('.').next().unwrap_or_default();
    let in_capitals = !page.chars().any(|c| c.is_ascii_lowercase());
    SOURCES.contains(&end.to_lowercase().as_str())
        && !STEERING.contains(&lower.as_str())
        && !IN_NAMES.iter().any(|part| lower.contains(part))
        && (!in_capitals || !end.eq_ignore_ascii_case("md") || PAGES.contains(&page))
        && !["agents.md", "claude.md", "gemini.md"].contains(&lower.as_str())
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
        for path in LEFT {
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

    const LEFT: &[&str] = &[
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
        "AGENT.md",
        "SKILL.md",
        "CONVENTIONS.md",
        "mcp_config.json",
        "tasks.json",
        "copilot-setup-steps.yml",
        "action.yml",
        "compose.yaml",
        "docker-compose.override.yml",
        "Dockerfile.dev",
        "netlify.toml",
        "vercel.json",
        "main.tf",
        "Chart.yaml",
        "mix.exs",
        "build.sbt",
        "build.zig",
        "SConstruct",
        "wscript",
        "configure",
        "dune",
        "tasks.py",
        "fabfile.py",
        "conanfile.py",
        "CMakePresets.json",
        "BUCK",
        "xmake.lua",
        "build.ninja",
        "Makefile.am",
        "pnpmfile.cjs",
        "Vagrantfile.local",
        "gradlew.bat",
        "x.vcxproj",
        "tsconfig.base.json",
        "karma.conf.js",
        "jest.setup.js",
        "clippy.toml",
        "uv.toml",
        "Claude.md",
        "src/data.json",
    ];
}
