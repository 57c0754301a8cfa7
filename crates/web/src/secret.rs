//! Secrets: made of the kernel's random numbers, kept as a hash, compared in constant time.

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::io;
use subtle::ConstantTimeEq as _;

/// Too many to be guessed by anything, so a plain hash is enough to keep one.
const SECRET_BYTES: usize = 32;

/// A fresh secret, in letters that a URL and a header take as they are.
pub(crate) fn fresh() -> io::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += getrandom(rest, GetRandomFlags::empty())?;
    }
    Ok(hex(&bytes))
}

/// What is kept of a secret.
pub(crate) fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// Whether this is the hash of that secret.
pub(crate) fn is_hash_of(kept: &str, secret: &str) -> bool {
    are_same(kept, &hash(secret))
}

/// Whether two hashes are the same. How much of one is right cannot be measured.
pub(crate) fn are_same(kept: &str, hash: &str) -> bool {
    kept.as_bytes().ct_eq(hash.as_bytes()).into()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_again_and_no_other_is() {
        let (one, other) = (fresh().unwrap(), fresh().unwrap());
        assert_eq!(one.len(), 2 * SECRET_BYTES);
        assert_ne!(one, other);
        assert!(is_hash_of(&hash(&one), &one));
        assert!(!is_hash_of(&hash(&one), &other));
        assert!(!is_hash_of("", &one));
        assert_eq!(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
