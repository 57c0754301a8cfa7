//! What the first bytes of the log's file say of it, without reading the rest.

use std::io::Read as _;
use std::path::Path;

/// How long the head of a file of `SQLite` is.
const HEAD_BYTES: usize = 100;

const MAGIC: &[u8] = b"SQLite format 3\0";

fn head(path: &Path) -> Option<[u8; HEAD_BYTES]> {
    let mut head = [0; HEAD_BYTES];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).ok()?;
    head.starts_with(MAGIC).then_some(head)
}

/// Whether the file begins as one of `SQLite` does.
pub(super) fn is_there(path: &Path) -> bool {
    head(path).is_some()
}

/// Whether the file is shorter than it says: it was cut. `SQLite` reads zeros there, and notices
/// them only in a page that somebody asks for.
///
/// Counts only where no journal holds the pages that the file may lack after a crash.
pub(super) fn says_more(path: &Path) -> bool {
    let (Some(head), Ok(facts)) = (head(path), path.metadata()) else { return false };
    let number =
        |at: usize| head[at..at + 4].iter().fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
    // The largest page has a size that two bytes cannot hold.
    let page = match u64::from(head[16]) << 8 | u64::from(head[17]) {
        1 => 65_536,
        bytes => bytes,
    };
    // A program that does not know of the number of pages leaves these two apart.
    let is_known = number(24) == number(92);
    is_known && facts.len() < page * number(28)
}
