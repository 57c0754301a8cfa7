//! Where a command would run: its worktree, its folder, its path of programs. Names are looked up
//! on the disk, through links.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use crate::why::Why;

/// The place of a request.
#[derive(Debug, Clone)]
pub struct Place {
    /// Without links.
    worktree: PathBuf,
    folder: PathBuf,
    programs: OsString,
}

impl Place {
    /// A command in `folder` of `worktree`, with this path of programs (`PATH`).
    pub fn new(worktree: &Path, folder: &Path, programs: &OsStr) -> io::Result<Self> {
        let (worktree, folder) = (worktree.canonicalize()?, folder.canonicalize()?);
        Ok(Self { worktree, folder, programs: programs.to_owned() })
    }

    /// The program that a name stands for, if the agent cannot have written it.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf, Why> {
        for folder in env::split_paths(&self.programs) {
            if !folder.is_absolute() {
                return Err(Why::LoosePath { folder: folder.to_string_lossy().into_owned() });
            }
            let file = folder.join(name);
            if !is_program(&file) {
                continue;
            }
            let lies = |path: &Path| path.canonicalize().is_ok_and(|real| self.holds(&real));
            return if lies(&folder) || lies(&file) {
                Err(Why::ProgramInside { file })
            } else {
                Ok(file)
            };
        }
        Err(Why::NoProgram { program: name.to_owned() })
    }

    /// The file that a path leads to, if that is in the worktree.
    pub(crate) fn inside(&self, path: &str) -> Result<PathBuf, Why> {
        let outside = || Why::PathOutside { path: path.to_owned() };
        // What these mean depends on the process that looks.
        if ["//", "/proc", "/dev", "/sys"].iter().any(|odd| path.starts_with(odd)) {
            return Err(outside());
        }
        let real = resolve(&self.folder.join(path)).ok_or_else(outside)?;
        if self.holds(&real) { Ok(real) } else { Err(outside()) }
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

/// A path without links and dots. What does not exist yet lies where its nearest folder lies.
fn resolve(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut there = path;
    loop {
        match there.canonicalize() {
            Ok(real) => {
                missing.reverse();
                return Some(missing.into_iter().fold(real, |real, part| real.join(part)));
            }
            // A link to nothing leads to wherever it will lead tomorrow.
            Err(failure)
                if failure.kind() == io::ErrorKind::NotFound
                    && there.symlink_metadata().is_err() =>
            {
                match there.components().next_back()? {
                    Component::Normal(part) => missing.push(part),
                    Component::Prefix(_)
                    | Component::RootDir
                    | Component::CurDir
                    | Component::ParentDir => return None,
                }
                there = there.parent()?;
            }
            Err(_) => return None,
        }
    }
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
        for path in [
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
        let none = |name: &str| Err(Why::NoProgram { program: name.to_owned() });
        assert_eq!(found(&["programs"], "data"), none("data"));
        assert_eq!(found(&["programs"], "rm"), none("rm"));
        for loose in [".", ""] {
            let wanted = Err(Why::LoosePath { folder: loose.to_owned() });
            assert_eq!(found(&[loose, "programs"], "ls"), wanted);
            assert_eq!(found(&["programs", loose], "ls"), Ok(ground.at("programs/ls")));
        }
    }
}
