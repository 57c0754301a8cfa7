//! The terminal's size over time, so that a screen can be derived from any stretch of output.

use std::io::{self, Read as _, Write as _};

use glis_wire::hold::{Size, place};

use crate::folder::Folder;

/// Ten thousand changes are more than any person makes; past this the older half is dropped.
const FILE_BYTES_MAX: u64 = 256 * 1024;

/// The file under its name while it is made.
const BEFORE: &str = "sizes.tmp";

/// Notes that the terminal has this size from this offset on.
pub(crate) fn note(folder: &Folder, offset: u64, size: Size) -> io::Result<()> {
    let mut file = folder.append(place::SIZES)?;
    if file.metadata()?.len() > FILE_BYTES_MAX {
        halve(folder)?;
        file = folder.append(place::SIZES)?;
    }
    // One write, so that a reader never sees half a line.
    file.write_all(format!("{offset} {} {}\n", size.columns, size.rows).as_bytes())
}

pub(crate) fn last_offset(folder: &Folder) -> u64 {
    let text = whole(folder).unwrap_or_default();
    let last = text.lines().rev().find_map(|line| line.split(' ').next()?.parse().ok());
    last.unwrap_or(0)
}

fn halve(folder: &Folder) -> io::Result<()> {
    let text = whole(folder)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let newer = lines.get(lines.len() / 2..).unwrap_or_default().concat();
    folder.anew(BEFORE)?.write_all(newer.as_bytes())?;
    folder.rename(BEFORE, place::SIZES)
}

fn whole(folder: &Folder) -> io::Result<String> {
    let mut text = String::new();
    folder.read(place::SIZES)?.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_lines_and_the_file_does_not_grow_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        assert_eq!(last_offset(&folder), 0);
        for offset in 0..40_000 {
            note(&folder, offset, Size { columns: 80, rows: 24 }).unwrap();
        }
        assert_eq!(last_offset(&folder), 39_999);
        let text = whole(&folder).unwrap();
        assert!(text.len() as u64 <= FILE_BYTES_MAX + 20);
        assert!(text.lines().all(|line| line.ends_with(" 80 24")));
    }
}
