//! Where a program lies, by the agent's own `PATH` and not by the holder's.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};

/// What a shell searches when `PATH` is not set.
const PATH_USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// The file to execute for `name`, or `None` if there is none that may be executed.
pub(crate) fn find(name: &str, env: &[(String, String)], cwd: &Path) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.contains('/') {
        return executable(cwd.join(name));
    }
    let path = env.iter().rev().find(|(key, _)| key == "PATH");
    let path = path.map_or(PATH_USUAL, |(_, value)| value.as_str());
    // An empty part means the working directory, as it does for every shell.
    path.split(':').find_map(|part| executable(cwd.join(part).join(name)))
}

fn executable(path: PathBuf) -> Option<PathBuf> {
    let may = accessat(CWD, &path, Access::EXEC_OK, AtFlags::EACCESS).is_ok();
    (may && path.is_file()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(path: &str) -> Vec<(String, String)> {
        vec![("PATH".to_owned(), path.to_owned())]
    }

    #[test]
    fn a_name_is_looked_up_in_the_given_path_only() {
        assert!(find("sh", &env("/usr/bin:/bin"), Path::new("/")).is_some());
        assert_eq!(find("sh", &env("/nowhere"), Path::new("/")), None);
        assert!(find("sh", &[], Path::new("/")).is_some());
    }

    #[test]
    fn a_relative_path_starts_at_the_working_directory() {
        assert_eq!(find("bin/sh", &[], Path::new("/")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(find("./sh", &[], Path::new("/")), None);
    }

    #[test]
    fn folders_and_plain_files_are_no_programs() {
        assert_eq!(find("/bin", &[], Path::new("/")), None);
        assert_eq!(find("/etc/passwd", &[], Path::new("/")), None);
        assert_eq!(find("", &env("/bin"), Path::new("/")), None);
    }
}
