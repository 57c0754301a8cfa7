//! Reading a file that another process appends to.

use glis_record::durable;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// Everything in a file from an offset on; nothing if it is not there yet.
pub(crate) fn read_from(path: &Path, offset: u64) -> io::Result<Vec<u8>> {
    let Some(mut file) = durable::open_file(path)? else { return Ok(Vec::new()) };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
