//! Names in the quoted form that git reads, for bytes that would end a line or a word.

/// The name in double quotes, with everything escaped that could be taken for something else.
pub(crate) fn quoted(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 2);
    out.push(b'"');
    for byte in name {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            0..=31 | 127 => out.extend(format!("\\{byte:03o}").bytes()),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}
