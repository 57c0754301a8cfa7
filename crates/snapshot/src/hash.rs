//! Object names as git computes them. We compute them too, so that a file that did not change is
//! never sent to git twice, and a restored index can carry a checksum.

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

/// The name of an object.
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
pub(crate) struct Hasher {
    words: Words,
    block: [u8; 64],
    filled: usize,
    total: u64,
}

enum Words {
    One([u32; 5]),
    Two([u32; 8]),
}

impl Hasher {
    pub(crate) fn new(format: Format) -> Self {
        let words = match format {
            Format::Sha1 => {
                Words::One([0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0])
            }
            Format::Sha256 => Words::Two([
                0x6a09_e667,
                0xbb67_ae85,
                0x3c6e_f372,
                0xa54f_f53a,
                0x510e_527f,
                0x9b05_688c,
                0x1f83_d9ab,
                0x5be0_cd19,
            ]),
        };
        Self { words, block: [0; 64], filled: 0, total: 0 }
    }

    /// Begins the name of a blob of `len` bytes.
    pub(crate) fn blob(format: Format, len: u64) -> Self {
        let mut hasher = Self::new(format);
        hasher.update(format!("blob {len}\0").as_bytes());
        hasher
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        if self.filled > 0 {
            let taken = bytes.len().min(64 - self.filled);
            let (now, later) = bytes.split_at(taken);
            self.block[self.filled..self.filled + taken].copy_from_slice(now);
            self.filled += taken;
            bytes = later;
            if self.filled < 64 {
                return;
            }
            let block = self.block;
            self.words.mix(&block);
            self.filled = 0;
        }
        let (blocks, rest) = bytes.as_chunks::<64>();
        for block in blocks {
            self.words.mix(block);
        }
        self.block[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    pub(crate) fn finish(mut self) -> Oid {
        let bits = self.total * 8;
        let zeros = (119 - self.filled % 64) % 64;
        let mut tail = vec![0x80];
        tail.resize(zeros + 1, 0);
        tail.extend_from_slice(&bits.to_be_bytes());
        self.update(&tail);
        let raw: Vec<u8> = match self.words {
            Words::One(words) => words.iter().flat_map(|w| w.to_be_bytes()).collect(),
            Words::Two(words) => words.iter().flat_map(|w| w.to_be_bytes()).collect(),
        };
        let len = if raw.len() == 20 { 20 } else { 32 };
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(&raw);
        Oid { bytes, len }
    }
}

/// The name that git gives to a blob with these bytes.
pub(crate) fn blob_name(format: Format, bytes: &[u8]) -> Oid {
    let mut hasher = Hasher::blob(format, bytes.len() as u64);
    hasher.update(bytes);
    hasher.finish()
}

impl Words {
    fn mix(&mut self, block: &[u8; 64]) {
        match self {
            Self::One(state) => mix_one(state, block),
            Self::Two(state) => mix_two(state, block),
        }
    }
}

fn load(block: &[u8; 64]) -> [u32; 16] {
    let (words, _) = block.as_chunks::<4>();
    let mut out = [0; 16];
    for (to, from) in out.iter_mut().zip(words) {
        *to = u32::from_be_bytes(*from);
    }
    out
}

/// Twenty steps that differ from the others in their function and their number.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a call per step would double the time")]
#[expect(clippy::many_single_char_names, reason = "the names of the standard")]
fn twenty(w: &mut [u32; 16], v: &mut [u32; 5], from: usize, k: u32, f: impl Fn([u32; 3]) -> u32) {
    for i in from..from + 20 {
        if i >= 16 {
            let next = w[(i + 13) & 15] ^ w[(i + 8) & 15] ^ w[(i + 2) & 15] ^ w[i & 15];
            w[i & 15] = next.rotate_left(1);
        }
        let [a, b, c, d, e] = *v;
        let mixed = f([b, c, d]).wrapping_add(e).wrapping_add(k).wrapping_add(w[i & 15]);
        *v = [a.rotate_left(5).wrapping_add(mixed), a, b.rotate_left(30), c, d];
    }
}

fn mix_one(state: &mut [u32; 5], block: &[u8; 64]) {
    let mut w = load(block);
    let mut v = *state;
    twenty(&mut w, &mut v, 0, 0x5a82_7999, |[b, c, d]| d ^ (b & (c ^ d)));
    twenty(&mut w, &mut v, 20, 0x6ed9_eba1, |[b, c, d]| b ^ c ^ d);
    twenty(&mut w, &mut v, 40, 0x8f1b_bcdc, |[b, c, d]| (b & c) | (d & (b | c)));
    twenty(&mut w, &mut v, 60, 0xca62_c1d6, |[b, c, d]| b ^ c ^ d);
    for (to, add) in state.iter_mut().zip(v) {
        *to = to.wrapping_add(add);
    }
}

const ROUNDS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

#[expect(clippy::many_single_char_names, reason = "the names of the standard")]
fn mix_two(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut w = [0_u32; 64];
    w[..16].copy_from_slice(&load(block));
    for i in 16..64 {
        let near = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
        let far = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16].wrapping_add(near).wrapping_add(w[i - 7]).wrapping_add(far);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, round) in w.iter().zip(ROUNDS) {
        let high = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = g ^ (e & (f ^ g));
        let one = h.wrapping_add(high).wrapping_add(choice).wrapping_add(round).wrapping_add(*word);
        let low = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let two = low.wrapping_add((a & b) | (c & (a | b)));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
    }
    for (to, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *to = to.wrapping_add(add);
    }
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
