//! Regular files of a bounded size. What a repository or a remote caller names may be a pipe, a device, or a
//! link that leads elsewhere.

use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens a regular file, wherever links lead. A pipe is not waited for.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file; move it away"));
    }
    Ok(file)
}

/// Opens a regular file below a folder. A link that leads out of it is not followed.
pub fn open_inside(root: &Path, path: &Path) -> io::Result<File> {
    let real = path.canonicalize()?;
    if !real.starts_with(root.canonicalize()?) {
        return Err(io::Error::other("it is a link that leads out of the repository"));
    }
    open(&real)
}

/// The text of a file that was opened, unless it is longer than this.
pub fn text(file: File, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    file.take(bytes_max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("it is larger than {bytes_max} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_a_regular_file_inside_the_folder_is_read_and_only_up_to_a_bound() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("plan"), "words").unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        symlink("plan", at("near")).unwrap();
        symlink(outside.path().join("secret"), at("away")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR).unwrap();
        let read = |name: &str| {
            let opened = open_inside(root.path(), &at(name)).and_then(|file| text(file, 5));
            opened.map_err(|fault| fault.to_string())
        };
        assert_eq!((read("plan"), read("near")), (Ok("words".to_owned()), Ok("words".to_owned())));
        let out = Err("it is a link that leads out of the repository".to_owned());
        assert_eq!((read("away"), read("endless")), (out.clone(), out));
        assert_eq!(read("pipe"), Err("it is not a regular file; move it away".to_owned()));
        assert!(open(&at("endless")).is_err() && open(&at("away")).is_ok());
        std::fs::write(at("plan"), "longer").unwrap();
        assert_eq!(read("plan"), Err("it is larger than 5 bytes".to_owned()));
    }
}
