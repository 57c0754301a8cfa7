//! Reading a file that another process appends to.

use glis_record::durable;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Everything in a file from an offset on; nothing if it is not there yet.
pub(crate) fn read_from(path: &Path, offset: u64) -> io::Result<Vec<u8>> {
    let Some(mut file) = durable::open_file(path)? else { return Ok(Vec::new()) };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same of files that continue each other. Only the last one still grows.
pub(crate) fn read_across(paths: &[PathBuf], offset: u64) -> io::Result<Vec<u8>> {
    let (mut bytes, mut before) = (Vec::new(), 0);
    for path in paths {
        let end = before + path.metadata().map_or(0, |facts| facts.len());
        if end > offset {
            bytes.extend(read_from(path, offset.saturating_sub(before))?);
        }
        before = end;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_continue_each_other_are_read_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a", "gone", "b"].map(|name| dir.path().join(name));
        std::fs::write(&paths[0], "one ").unwrap();
        std::fs::write(&paths[2], "two").unwrap();
        for (offset, rest) in [(0, "one two"), (2, "e two"), (4, "two"), (6, "o"), (7, "")] {
            assert_eq!(read_across(&paths, offset).unwrap(), rest.as_bytes(), "{offset}");
        }
    }
}
