//! Files that come with a message: copied into the worktree, where the agent may read them, and named in
//! the message.

use super::answer::{Answer, bad};
use super::state::ServerState;
use crate::pools::Kind;
use crate::run_records;
use glis_core::Session;
use glis_record::durable;
use glis_snapshot::SENT;
use glis_wire::client::Action;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// What is larger would be in every snapshot; an agent can be told a path instead.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// So many files of one name, and then the user is asked to tidy up.
const SAME_NAME_MAX: u32 = 1000;

/// What was copied for a message that is not stored yet.
#[derive(Default)]
pub(super) struct Copies(Vec<PathBuf>);

impl Copies {
    /// Takes them back: there is no message that names them.
    pub(super) async fn discard(self, state: &ServerState) {
        state.pools.run(Kind::Ask, move || remove(&self.0)).await;
    }
}

/// What cannot be removed stays as a file that no message names.
fn remove(copies: &[PathBuf]) {
    for path in copies {
        std::fs::remove_file(path).ok();
    }
}

/// Copies the files of a message, and names them in it.
pub(super) async fn bring_along(
    state: &ServerState,
    given: &str,
    action: Action,
) -> Answer<(Action, Copies)> {
    let Action::Send { text, files } = action else { return Ok((action, Copies::default())) };
    if files.is_empty() {
        return Ok((Action::Send { text, files }, Copies::default()));
    }
    let session = state.find(given).await?;
    let worktree = worktree_of(&session)?;
    let copy = state.pools.run_blocking(Kind::Ask, move || copy_all(&worktree, &files));
    let copied = copy.await.flatten().map_err(bad)?;
    let named =
        copied.iter().fold(text, |text, path| format!("{text}\n\nFile: {}", path.display()));
    Ok((Action::Send { text: named, files: Vec::new() }, Copies(copied)))
}

fn worktree_of(session: &Session) -> Answer<PathBuf> {
    let worktree = session.place.worktree.as_ref().map(PathBuf::from).filter(|path| path.is_dir());
    let name = &session.name;
    let none = || format!("`{name}` has no worktree at the moment that a file could be copied to");
    Ok(worktree.ok_or_else(|| bad(none()))?)
}

/// Copies all of them, or none.
fn copy_all(worktree: &Path, files: &[String]) -> Result<Vec<PathBuf>, String> {
    // Where that cannot be written, only the agent's own commits may take them along.
    run_records::ignore(worktree, &format!("/{SENT}/")).ok();
    let mut copied = Vec::new();
    for file in files {
        match copy(worktree, Path::new(file)) {
            Ok(path) => copied.push(path),
            Err(fault) => {
                remove(&copied);
                return Err(format!("{file} was not copied into the worktree: {fault}"));
            }
        }
    }
    Ok(copied)
}

fn copy(worktree: &Path, file: &Path) -> io::Result<PathBuf> {
    let Some(source) = durable::open_file(file)? else {
        file.metadata()?;
        return Err(io::Error::other("it is no regular file"));
    };
    let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    // It is part of a message, and of a line at a terminal.
    let name: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    let folder = folder(worktree)?;
    let (mut target, name) = fresh(&folder, &name)?;
    let copied = io::copy(&mut source.take(FILE_BYTES_MAX + 1), &mut target);
    let copied = copied.and_then(|bytes| {
        if bytes > FILE_BYTES_MAX {
            return Err(io::Error::other(format!("it is larger than {FILE_BYTES_MAX} bytes")));
        }
        target.sync_all()?;
        File::from(folder.try_clone()?).sync_all()
    });
    if let Err(fault) = copied {
        unlinkat(&folder, &name, AtFlags::empty()).ok();
        return Err(fault);
    }
    Ok(worktree.join(SENT).join(name))
}

/// The folder for them, made if it is missing. No link is followed: one could lead out of the worktree.
fn folder(worktree: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, worktree, flags, Mode::empty())?;
    for name in SENT.split('/') {
        match mkdirat(&at, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(fault) => return Err(fault.into()),
        }
        let below = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
        File::from(at).sync_all()?;
        at = below;
    }
    Ok(at)
}

/// A file that was not there before, and what it is called: the name itself, or with a number.
fn fresh(folder: &OwnedFd, name: &str) -> io::Result<(File, String)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for number in 1..=SAME_NAME_MAX {
        let name = numbered(name, number);
        match openat(folder, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => return Ok((File::from(file), name)),
            Err(Errno::EXIST) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, ending))) if !stem.is_empty() => format!("{stem}-{number}.{ending}"),
        (_, _) => format!("{name}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn sent(worktree: &Path, file: &Path) -> Result<String, String> {
        let copied = copy_all(worktree, &[file.to_string_lossy().into_owned()])?;
        Ok(copied[0].strip_prefix(worktree).unwrap().to_string_lossy().into_owned())
    }

    #[test]
    fn nothing_is_overwritten() {
        let (tree, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = outside.path().join("plan.txt");
        for (text, name) in [("one", "plan.txt"), ("two", "plan-2.txt"), ("three", "plan-3.txt")] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(sent(tree.path(), &file).unwrap(), format!(".glis/files/{name}"));
            let copy = tree.path().join(".glis/files").join(name);
            assert_eq!(std::fs::read_to_string(copy).unwrap(), text);
        }
        assert_eq!(std::fs::read(tree.path().join(".glis/files/plan.txt")).unwrap(), b"one");
    }

    #[test]
    fn no_link_leads_out_of_the_worktree() {
        let (tree, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = outside.path().join("plan.txt");
        std::fs::write(&file, "one").unwrap();
        let away = outside.path().join("away");
        std::fs::create_dir(&away).unwrap();
        symlink(&away, tree.path().join(".glis")).unwrap();
        assert!(sent(tree.path(), &file).unwrap_err().contains("plan.txt was not copied"));
        std::fs::remove_file(tree.path().join(".glis")).unwrap();
        // A link in the place of the file is in the way as any file is.
        std::fs::create_dir_all(tree.path().join(".glis/files")).unwrap();
        symlink(away.join("x"), tree.path().join(".glis/files/plan.txt")).unwrap();
        assert_eq!(sent(tree.path(), &file).unwrap(), ".glis/files/plan-2.txt");
        assert_eq!(std::fs::read_dir(&away).unwrap().count(), 0);
    }

    #[test]
    fn all_are_copied_or_none() {
        let (tree, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = outside.path().join("odd\nname");
        std::fs::write(&file, "one").unwrap();
        assert_eq!(sent(tree.path(), &file).unwrap(), ".glis/files/odd_name");
        let both = [file.to_string_lossy().into_owned(), "/nowhere/at/all".to_owned()];
        assert!(copy_all(tree.path(), &both).unwrap_err().starts_with("/nowhere/at/all was not"));
        for no_file in [outside.path(), Path::new("/dev/zero"), Path::new("/..")] {
            assert!(sent(tree.path(), no_file).is_err(), "{no_file:?}");
        }
        let large = outside.path().join("large");
        File::create(&large).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        assert!(sent(tree.path(), &large).unwrap_err().contains("larger than"));
        let left = std::fs::read_dir(tree.path().join(".glis/files")).unwrap().count();
        assert_eq!(left, 1, "only what was sent");
    }

    #[test]
    fn a_number_stands_before_the_ending() {
        assert_eq!(numbered("a.tar.gz", 2), "a.tar-2.gz");
        assert_eq!(numbered(".env", 2), ".env-2");
        assert_eq!(numbered("Makefile", 3), "Makefile-3");
    }
}
