//! Files that outlive a power cut: their bytes, and the names that they are found by.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The first line of a transcript may carry the agent's whole instructions.
const FIRST_LINE_BYTES: u64 = 4 * 1024 * 1024;

/// Syncs a file that another process writes. One that is not there has nothing to
/// lose.
pub fn sync(path: &Path) -> io::Result<()> {
    let Some(file) = open_file(path)? else { return Ok(()) };
    file.sync_data()?;
    path.parent().map_or(Ok(()), sync_names)
}

/// Opens a file that another process writes, if there is one. What only looks like a file (a pipe
/// without a writer) would be waited for without end.
pub fn open_file(path: &Path) -> io::Result<Option<File>> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    match File::options().read(true).custom_flags(flags).open(path) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => {
            let file = opened?;
            Ok(file.metadata()?.is_file().then_some(file))
        }
    }
}

/// Everything in such a file; nothing if there is none.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut file) = open_file(path)? {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The first line of such a file, with its end: half a line is still being written.
pub fn first_line(path: &Path) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let file = open_file(path).ok()??.take(FIRST_LINE_BYTES);
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    line.ends_with(b"\n").then_some(line)
}

/// Makes the names in a folder last.
pub fn sync_names(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes a file beside its place, syncs it, moves it there and syncs the folder.
pub fn write(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    // Two may be at it at once; each must move what it has written itself.
    static TRIES: AtomicU64 = AtomicU64::new(0);
    let fresh = dir.join(format!("{name}.new-{}", TRIES.fetch_add(1, Ordering::Relaxed)));
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&fresh, dir.join(name))?;
    sync_names(dir)
}

/// As [`write`], without a promise that it lasts at once: after a power cut there is the former file
/// or this one, whole. One sync instead of two.
pub fn replace(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let fresh = dir.join(format!("{name}.new"));
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    std::fs::rename(&fresh, dir.join(name))
}

/// A folder that only we can look into, with all above it, and all their names.
pub fn private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    above.map_or(Ok(()), private_folder)?;
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        // Another process was faster, or what is there is no folder.
        Err(fault) if fault.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => {
            return Err(fault);
        }
        Ok(()) | Err(_) => {}
    }
    match above.map_or(Ok(()), sync_names) {
        // A folder that we may write into and not look into cannot be asked for this.
        Err(fault) if fault.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        kept => kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn folders_are_made_with_all_above_them_and_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a").join("b");
        for _ in 0..2 {
            private_folder(&deep).unwrap();
        }
        for made in [&deep, deep.parent().unwrap()] {
            assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        std::fs::write(deep.join("file"), "").unwrap();
        assert!(private_folder(&deep.join("file")).is_err());
        assert!(private_folder(&deep.join("file").join("below")).is_err());
    }

    #[test]
    fn a_file_that_is_not_there_has_nothing_to_lose() {
        let dir = tempfile::tempdir().unwrap();
        sync(&dir.path().join("none")).unwrap();
        assert!(read_file(&dir.path().join("none")).unwrap().is_empty());
        let pipe = dir.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        sync(&pipe).unwrap();
        assert!(read_file(&pipe).unwrap().is_empty());
        write(dir.path(), "some", b"words").unwrap();
        sync(&dir.path().join("some")).unwrap();
        assert_eq!(std::fs::read(dir.path().join("some")).unwrap(), b"words");
    }
}
