//! Where a command would run: its worktree, its folder, its path of programs. Names are looked up
//! on the disk, through links.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use crate::git::{Repository, User};
use crate::why::Why;

/// The place of a request.
#[derive(Debug, Clone)]
pub struct Place {
    /// Without links.
    worktree: PathBuf,
    /// The checkout whose repository it is of, where that is known.
    main: Option<PathBuf>,
    folder: PathBuf,
    programs: OsString,
    /// Of the process that would run it.
    variables: Vec<(OsString, OsString)>,
}

/// Variables that name files which a shell, the loader or an interpreter runs before anything else.
const LOADING: [&str; 19] = [
    "BASH_ENV",
    "ENV",
    "GCONV_PATH",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LOCPATH",
    "NODE_PATH",
    "PERL5LIB",
    "PYTHONPATH",
    "RUBYLIB",
    "ZDOTDIR",
];

/// Those in which a name without a slash is looked for where the system keeps its libraries.
const BY_NAME: [&str; 2] = ["LD_AUDIT", "LD_PRELOAD"];

impl Place {
    /// A command in `folder` of `worktree`, with this path of programs (`PATH`).
    pub fn new(worktree: &Path, folder: &Path, programs: &OsStr) -> io::Result<Self> {
        let (worktree, folder) = (worktree.canonicalize()?, folder.canonicalize()?);
        let variables = Vec::new();
        Ok(Self { worktree, main: None, folder, programs: programs.to_owned(), variables })
    }

    /// The same, in a worktree of the repository of this checkout and of no other.
    #[must_use]
    pub fn of_repository(self, main: &Path) -> Self {
        Self { main: Some(main.to_owned()), ..self }
    }

    /// The same, with the variables of the process that would run it.
    #[must_use]
    pub fn among(self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.into_iter().collect(), ..self }
    }

    /// Whether no variable lets the agent's files, or a function of the same name, run in the place of
    /// a program. An empty folder in a list (`:/opt/lib`) is the one that the command runs in.
    pub(crate) fn is_unchanged(&self, program: &str) -> Result<(), Why> {
        let function = format!("BASH_FUNC_{program}");
        for (name, value) in &self.variables {
            let name = name.to_string_lossy();
            let shadows = name.starts_with(&function);
            if shadows || (LOADING.contains(&&*name) && self.loads_from_here(&name, value)) {
                return Err(Why::Variable { name: name.into_owned() });
            }
        }
        Ok(())
    }

    fn loads_from_here(&self, name: &str, value: &OsStr) -> bool {
        let Some(value) = value.to_str() else { return true };
        let by_name = BY_NAME.contains(&name);
        let mut entries = value.split([':', ';', ' ']).filter(|one| !by_name || one.contains('/'));
        let here = |entry: &str| {
            let file = Path::new(entry);
            !file.is_absolute() || resolve(&self.folder, file).is_none_or(|real| self.holds(&real))
        };
        !value.is_empty() && entries.any(here)
    }

    /// The program that a name stands for, if the agent cannot have written it.
    pub fn program(&self, name: &str) -> Result<PathBuf, Why> {
        for folder in env::split_paths(&self.programs) {
            if !folder.is_absolute() {
                return Err(Why::LoosePath { folder: folder.to_string_lossy().into_owned() });
            }
            let file = folder.join(name);
            // What is not there yet, the agent may have put there by the time of the run.
            if resolve(&self.folder, &folder).is_none_or(|real| self.holds(&real)) {
                return Err(Why::ProgramInside { file });
            }
            if !is_program(&file) {
                continue;
            }
            return if file.canonicalize().is_ok_and(|real| !self.holds(&real)) {
                Ok(file)
            } else {
                Err(Why::ProgramInside { file })
            };
        }
        Err(Why::NoProgram { program: name.to_owned() })
    }

    /// The file that a path leads to, if that is in the worktree.
    pub(crate) fn inside(&self, path: &str) -> Result<PathBuf, Why> {
        let outside = || Why::PathOutside { path: path.to_owned() };
        // By the standard, two slashes may mean anything.
        if path.starts_with("//") {
            return Err(outside());
        }
        let real = resolve(&self.folder, Path::new(path)).ok_or_else(outside)?;
        if self.holds(&real) { Ok(real) } else { Err(outside()) }
    }

    /// Whether git starts nothing here that the agent may have written: it runs at the root of the worktree,
    /// where no other repository is found first, none lies within, and no setting leads into the worktree.
    pub(crate) fn git_is_own(&self) -> Result<(), Why> {
        let more = |about: String| Why::Git { about };
        if self.folder != self.worktree {
            return Err(more("it runs below the root of the worktree".to_owned()));
        }
        let repository = self.repository();
        let repository =
            repository.ok_or_else(|| more("the worktree has no repository".to_owned()))?;
        let variable = |wanted: &str| {
            let found =
                self.variables.iter().find(|(name, value)| name == wanted && !value.is_empty());
            found.map(|(_, value)| PathBuf::from(value))
        };
        let home = variable("HOME");
        let settings = home.as_ref().map(|home| home.join(".config"));
        let user = User { home, settings: variable("XDG_CONFIG_HOME").or(settings) };
        if let Some(setting) = repository.runs_from(&self.worktree, &user) {
            return Err(more(setting));
        }
        let tracked = repository.tracked();
        let tracked = tracked.ok_or_else(|| more("its index cannot be read".to_owned()))?;
        match tracked.iter().find(|one| one.is_repository()) {
            Some(within) => {
                Err(more(format!("submodule {}", String::from_utf8_lossy(&within.path))))
            }
            None => Ok(()),
        }
    }

    /// Whether git tracks this file of the worktree, as one that cannot be run.
    pub(crate) fn tracks(&self, below: &[u8]) -> bool {
        let tracked = self.repository().and_then(|repository| repository.tracked());
        tracked.into_iter().flatten().any(|one| one.path == below && one.is_plain_file())
    }

    /// Its repository. A `.git` file that names another one than it had from the beginning was written meanwhile.
    fn repository(&self) -> Option<Repository> {
        let found = Repository::of(&self.worktree)?;
        let Some(main) = &self.main else { return Some(found) };
        let same = Repository::of(main)?.common().canonicalize().ok()?
            == found.common().canonicalize().ok()?;
        let in_place = main.canonicalize().ok()? == self.worktree;
        (same && (!in_place || self.worktree.join(".git").is_dir())).then_some(found)
    }

    /// The path of a file in the worktree as seen from its root.
    pub(crate) fn below<'a>(&self, real: &'a Path) -> &'a Path {
        real.strip_prefix(&self.worktree).unwrap_or(real)
    }

    fn holds(&self, real: &Path) -> bool {
        real.starts_with(&self.worktree)
    }
}

fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// What lies below these depends on the process that looks.
const ODD: [&str; 3] = ["/proc", "/dev", "/sys"];

/// As many as the kernel follows.
const LINKS_MAX: usize = 40;

/// Where a path leads from a folder without links, by the kernel's own steps; nothing if it leads
/// through a place that is another one for another process, by whatever detour. What does not exist
/// yet lies where its nearest folder lies.
fn resolve(from: &Path, path: &Path) -> Option<PathBuf> {
    let mut real = from.to_owned();
    let mut left: Vec<OsString> = Vec::new();
    take_on(&mut real, &mut left, path);
    let (mut links, mut is_there) = (0, true);
    while let Some(part) = left.pop() {
        if part == ".." {
            if !is_there || !real.is_dir() {
                return None;
            }
            real.pop();
            continue;
        }
        real.push(part);
        if ODD.iter().any(|odd| real == Path::new(odd)) {
            return None;
        }
        match real.symlink_metadata() {
            _ if !is_there => {}
            Ok(found) if found.is_symlink() => {
                links += 1;
                // A link to nothing leads to wherever it will lead tomorrow.
                if links > LINKS_MAX || !real.exists() {
                    return None;
                }
                let target = fs::read_link(&real).ok()?;
                real.pop();
                take_on(&mut real, &mut left, &target);
            }
            Ok(_) => {}
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => is_there = false,
            Err(_) => return None,
        }
    }
    Some(real)
}

/// Puts the parts of a path before what is left to be followed.
fn take_on(real: &mut PathBuf, left: &mut Vec<OsString>, path: &Path) {
    if path.is_absolute() {
        *real = PathBuf::from("/");
    }
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    let mut parts: Vec<OsString> = parts.collect();
    parts.reverse();
    left.append(&mut parts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Ground {
        root: tempfile::TempDir,
    }

    impl Ground {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let ground = Self { root };
            for folder in ["tree/src", "tree/bin", "out", "programs"] {
                fs::create_dir_all(ground.at(folder)).unwrap();
            }
            for file in ["tree/src/a", "out/secret"] {
                fs::write(ground.at(file), "x").unwrap();
            }
            for program in ["programs/ls", "tree/bin/ls", "tree/bin/own"] {
                fs::write(ground.at(program), "x").unwrap();
                fs::set_permissions(ground.at(program), fs::Permissions::from_mode(0o755)).unwrap();
            }
            fs::write(ground.at("programs/data"), "x").unwrap();
            symlink("/etc", ground.at("tree/etc")).unwrap();
            symlink("../out/secret", ground.at("tree/secret")).unwrap();
            symlink("src", ground.at("tree/alias")).unwrap();
            symlink("nowhere", ground.at("tree/dangling")).unwrap();
            symlink("round", ground.at("tree/round")).unwrap();
            let seen =
                Path::new("/proc/self/root").join(ground.at("tree/src").strip_prefix("/").unwrap());
            symlink(seen, ground.at("tree/seen")).unwrap();
            symlink(ground.at("tree/bin/own"), ground.at("programs/linked")).unwrap();
            symlink(ground.at("tree/bin"), ground.at("linked-bin")).unwrap();
            symlink(ground.at("programs/ls"), ground.at("tree/bin/borrowed")).unwrap();
            ground
        }

        fn at(&self, path: &str) -> PathBuf {
            self.root.path().canonicalize().unwrap().join(path)
        }

        fn place(&self, programs: &[&str]) -> Place {
            let programs = env::join_paths(programs.iter().map(|folder| match *folder {
                "" | "." => PathBuf::from(folder),
                folder => self.at(folder),
            }));
            Place::new(&self.at("tree"), &self.at("tree"), &programs.unwrap()).unwrap()
        }
    }

    #[test]
    fn a_path_is_where_its_links_lead() {
        let ground = Ground::new();
        let place = ground.place(&[]);
        for (path, real) in [
            ("src/a", "tree/src/a"),
            (".", "tree"),
            ("src/../src/a", "tree/src/a"),
            ("alias/a", "tree/src/a"),
            ("src/new/file", "tree/src/new/file"),
        ] {
            assert_eq!(place.inside(path), Ok(ground.at(real)), "{path}");
        }
        let absolute = ground.at("tree/src/a");
        assert_eq!(place.inside(absolute.to_str().unwrap()), Ok(absolute.clone()));
        // The root of this very process, by a detour: elsewhere for a process with another root.
        let detour = format!("/usr/../proc/self/root{}", absolute.display());
        for path in [
            detour.as_str(),
            "..",
            "../out/secret",
            "secret",
            "etc/passwd",
            "etc",
            "dangling",
            "/",
            "/etc/passwd",
            "//etc/passwd",
            "/proc/self/root/etc",
            "/proc/self/cwd/src/a",
            "/usr/../proc/self/cwd/src/a",
            "/usr/./../proc/self/cwd",
            "seen/a",
            "seen",
            "round",
            "round/a",
            "src/a/..",
            "src/a/../a",
            "none/../src/a",
            "/dev/null",
            "src/new/../../../out",
            "nowhere/../../out/secret",
            "src/a/b",
        ] {
            assert_eq!(place.inside(path), Err(Why::PathOutside { path: path.into() }), "{path}");
        }
    }

    #[test]
    fn a_program_is_found_outside_of_the_worktree_or_not_at_all() {
        let ground = Ground::new();
        let found = |programs: &[&str], name: &str| ground.place(programs).program(name);
        let inside = |file: &str| Err(Why::ProgramInside { file: ground.at(file) });
        assert_eq!(found(&["programs"], "ls"), Ok(ground.at("programs/ls")));
        assert_eq!(found(&["out", "programs", "tree/bin"], "ls"), Ok(ground.at("programs/ls")));
        assert_eq!(found(&["tree/bin", "programs"], "ls"), inside("tree/bin/ls"));
        assert_eq!(found(&["linked-bin"], "ls"), inside("linked-bin/ls"));
        assert_eq!(found(&["programs"], "linked"), inside("programs/linked"));
        assert_eq!(found(&["tree/bin"], "borrowed"), inside("tree/bin/borrowed"));
        // It is not there; the agent may put it there.
        assert_eq!(found(&["tree/src", "programs"], "ls"), inside("tree/src/ls"));
        assert_eq!(found(&["tree/none/yet", "programs"], "ls"), inside("tree/none/yet/ls"));
        assert_eq!(found(&["none", "programs", "tree/src"], "ls"), Ok(ground.at("programs/ls")));
        let none = |name: &str| Err(Why::NoProgram { program: name.to_owned() });
        assert_eq!(found(&["programs"], "data"), none("data"));
        assert_eq!(found(&["programs"], "rm"), none("rm"));
        for loose in [".", ""] {
            let wanted = Err(Why::LoosePath { folder: loose.to_owned() });
            assert_eq!(found(&[loose, "programs"], "ls"), wanted);
            assert_eq!(found(&["programs", loose], "ls"), Ok(ground.at("programs/ls")));
        }
    }

    #[test]
    fn a_variable_that_loads_from_where_the_agent_writes_is_seen() {
        let ground = Ground::new();
        let [tree, linked, out] = ["tree/src", "linked-bin", "out"].map(|path| ground.at(path));
        let [tree, linked, out] = [&tree, &linked, &out].map(|path| path.to_str().unwrap());
        let check = |name: &str, value: &str| {
            let variables = [("HOME", "."), (name, value)].map(|(n, v)| (n.into(), v.into()));
            ground.place(&["programs"]).among(variables).is_unchanged("ls")
        };
        let after = format!("/usr/lib:{tree}");
        for (name, value) in [
            ("LD_LIBRARY_PATH", ":/opt/lib"),
            ("LD_LIBRARY_PATH", "/opt/lib:"),
            ("LD_LIBRARY_PATH", "/opt/lib::/usr/lib"),
            ("LD_LIBRARY_PATH", "lib"),
            ("LD_LIBRARY_PATH", "$ORIGIN/lib"),
            ("LD_LIBRARY_PATH", &after),
            ("LD_LIBRARY_PATH", linked),
            ("LD_PRELOAD", "./x.so"),
            ("LD_PRELOAD", "libm.so.6 src/x.so"),
            ("LD_AUDIT", "lib.so:./x.so"),
            ("BASH_ENV", "x"),
            ("BASH_ENV", tree),
            ("ENV", ".profile"),
            ("ZDOTDIR", tree),
            ("PYTHONPATH", "."),
            ("BASH_FUNC_ls%%", "() { id; }"),
            ("BASH_FUNC_ls()", "() { id; }"),
        ] {
            let wanted = Err(Why::Variable { name: name.to_owned() });
            assert_eq!(check(name, value), wanted, "{name}={value}");
        }
        for (name, value) in [
            ("LD_LIBRARY_PATH", ""),
            ("LD_LIBRARY_PATH", "/opt/lib:/usr/lib"),
            ("LD_LIBRARY_PATH", out),
            ("LD_PRELOAD", "libm.so.6"),
            ("LD_PRELOAD", ""),
            ("BASH_ENV", "/etc/bash.bashrc"),
            ("BASH_FUNC_module%%", "() { id; }"),
            ("PWD", tree),
            ("PATH", "."),
        ] {
            assert_eq!(check(name, value), Ok(()), "{name}={value}");
        }
    }
}
