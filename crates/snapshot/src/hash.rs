//! Object names as git computes them. We compute them too, so that a file that did not change is
//! never sent to git twice, and a restored index can carry a checksum.

use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// How a repository names its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Sha1,
    Sha256,
}

impl Format {
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name {
            "sha1" => Some(Self::Sha1),
            "sha256" => Some(Self::Sha256),
            _ => None,
        }
    }

    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Oid {
    bytes: [u8; 32],
    len: u8,
}

impl Oid {
    /// Takes the name from raw bytes; `None` if there are too few or too many.
    pub(crate) fn from_bytes(raw: &[u8]) -> Option<Self> {
        let len = match raw.len() {
            20 => 20,
            32 => 32,
            _ => return None,
        };
        let mut bytes = [0; 32];
        bytes.get_mut(..raw.len())?.copy_from_slice(raw);
        Some(Self { bytes, len })
    }

    /// Takes the name from its usual hexadecimal form.
    pub(crate) fn from_hex(hex: &[u8]) -> Option<Self> {
        if hex.len() != 40 && hex.len() != 64 {
            return None;
        }
        let digit = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
        let mut raw = Vec::with_capacity(32);
        for pair in hex.chunks_exact(2) {
            raw.push(digit(pair[0])? << 4 | digit(pair[1])?);
        }
        Self::from_bytes(&raw)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes a name from bytes that come piece by piece.
pub(crate) enum Hasher {
    One(Sha1),
    Two(Sha256),
}

impl Hasher {
    pub(crate) fn new(format: Format) -> Self {
        match format {
            Format::Sha1 => Self::One(Sha1::new()),
            Format::Sha256 => Self::Two(Sha256::new()),
        }
    }

    /// Begins the name of a blob of `len` bytes.
    pub(crate) fn blob(format: Format, len: u64) -> Self {
        let mut hasher = Self::new(format);
        hasher.update(format!("blob {len}\0").as_bytes());
        hasher
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::One(hasher) => hasher.update(bytes),
            Self::Two(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Oid {
        let mut oid = Oid { bytes: [0; 32], len: 32 };
        match self {
            Self::One(hasher) => {
                oid.len = 20;
                oid.bytes[..20].copy_from_slice(&hasher.finalize());
            }
            Self::Two(hasher) => oid.bytes.copy_from_slice(&hasher.finalize()),
        }
        oid
    }
}

/// The name that git gives to a blob with these bytes.
pub(crate) fn blob_name(format: Format, bytes: &[u8]) -> Oid {
    let mut hasher = Hasher::blob(format, bytes.len() as u64);
    hasher.update(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_get_the_names_that_git_gives_them() {
        let one = blob_name(Format::Sha1, b"hello\n");
        assert_eq!(one.to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
        let two = blob_name(Format::Sha256, b"hello\n");
        assert_eq!(
            two.to_string(),
            "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"
        );
    }

    #[test]
    fn pieces_of_any_length_give_the_same_name() {
        let bytes: Vec<u8> = (0..1000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
        for len in [0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 128, 1000] {
            let whole = blob_name(Format::Sha1, &bytes[..len]);
            for piece in [1, 7, 64, 200] {
                let mut hasher = Hasher::blob(Format::Sha1, len as u64);
                bytes[..len].chunks(piece).for_each(|part| hasher.update(part));
                assert_eq!(hasher.finish(), whole);
            }
        }
    }
}
