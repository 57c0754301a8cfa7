//! TLS: a certificate and its key, read from two files and read again when they were renewed.

use glis_verbs::{Complaint, Kind};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// A chain of certificates has a few kilobytes; a file without an end is none.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Where a certificate and its key lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The certificate and those that vouch for it, as PEM.
    pub certificate: PathBuf,
    /// The private key, as PEM.
    pub key: PathBuf,
}

/// A pair that is served.
pub(crate) struct Tls {
    pair: Pair,
    served: Mutex<Served>,
}

struct Served {
    acceptor: TlsAcceptor,
    /// What the files were when they were last read, well or not.
    stamps: [Option<Stamp>; 2],
}

/// Tells a file from the one that takes its place: its number, its length, and when it was changed.
type Stamp = (u64, u64, (i64, i64));

/// Why a pair cannot be served.
#[derive(Debug, thiserror::Error)]
enum BadPair {
    #[error("cannot read {}: {fault}", file.display())]
    Unreadable { file: PathBuf, fault: io::Error },
    #[error("there is no certificate in {}", .0.display())]
    NoCertificate(PathBuf),
    #[error("there is no private key in {}", .0.display())]
    NoKey(PathBuf),
    #[error("the private key in {} has a password", .0.display())]
    LockedKey(PathBuf),
    #[error("{} is not the key of the certificate in {}", .0.key.display(), .0.certificate.display())]
    Mismatch(Pair),
    #[error("the certificate in {} expired on {end}", file.display())]
    Expired { file: PathBuf, end: Timestamp },
    #[error("{} and {} cannot be used: {why}", pair.certificate.display(), pair.key.display())]
    Unusable { pair: Pair, why: rustls::Error },
}

impl BadPair {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreadable { .. } => return None,
            Self::NoCertificate(file) => format!(
                "it has to be PEM text (`-----BEGIN CERTIFICATE-----`); \
                 `openssl x509 -inform der -in {}` prints a binary one as such",
                file.display()
            ),
            Self::NoKey(file) => format!(
                "it has to be PEM text (`-----BEGIN PRIVATE KEY-----`); \
                 `openssl pkey -inform der -in {}` prints a binary one as such",
                file.display()
            ),
            Self::LockedKey(file) => {
                format!("`openssl pkey -in {} -out FILE` writes it without one", file.display())
            }
            Self::Mismatch(_) => "give the two files that were made together".to_owned(),
            Self::Expired { .. } => "renew it".to_owned(),
            Self::Unusable { .. } => {
                "an X.509 certificate of version 3 with an RSA, ECDSA or Ed25519 key is needed"
                    .to_owned()
            }
        };
        Some(hint)
    }
}

impl Tls {
    /// Reads a pair, or says what is wrong with it.
    pub(crate) fn read(pair: &Pair) -> Result<Self, Complaint> {
        let stamps = stamps(pair);
        let acceptor = acceptor(pair, Timestamp::now()).map_err(|bad| {
            let told = Complaint::new(Kind::Usage, bad.to_string());
            Complaint { hint: bad.hint(), ..told }
        })?;
        Ok(Self { pair: pair.clone(), served: Mutex::new(Served { acceptor, stamps }) })
    }

    /// What takes a connection. A pair that was renewed counts at once; one that cannot be used, as while
    /// only one of its files is written, leaves the last one in place.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = stamps(&self.pair);
        if served.stamps != stamps {
            served.stamps = stamps;
            if let Ok(renewed) = acceptor(&self.pair, Timestamp::now()) {
                served.acceptor = renewed;
            }
        }
        served.acceptor.clone()
    }
}

fn stamps(pair: &Pair) -> [Option<Stamp>; 2] {
    [&pair.certificate, &pair.key].map(|file| {
        let found = std::fs::metadata(file).ok()?;
        Some((found.ino(), found.len(), (found.mtime(), found.mtime_nsec())))
    })
}

fn acceptor(pair: &Pair, now: Timestamp) -> Result<TlsAcceptor, BadPair> {
    let (certificate, key) = (text(&pair.certificate)?, text(&pair.key)?);
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| BadPair::NoCertificate(pair.certificate.clone()))?;
    let end = chain.first().and_then(|first| end_of(first));
    if let Some(end) = end.filter(|end| *end < now) {
        return Err(BadPair::Expired { file: pair.certificate.clone(), end });
    }
    // Both ways in which a key is kept under a password have the word in clear.
    if key.windows(b"ENCRYPTED".len()).any(|part| part == b"ENCRYPTED") {
        return Err(BadPair::LockedKey(pair.key.clone()));
    }
    let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| BadPair::NoKey(pair.key.clone()))?;
    let unusable = |why| {
        if matches!(why, rustls::Error::InconsistentKeys(_)) {
            return BadPair::Mismatch(pair.clone());
        }
        BadPair::Unusable { pair: pair.clone(), why }
    };
    // The provider is named: another part of the program may have one of its own as the usual one.
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(unusable)?;
    // The only one that is spoken here: a WebSocket needs a connection of its own.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn text(file: &Path) -> Result<Vec<u8>, BadPair> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|open| open.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
    let unreadable = |fault| BadPair::Unreadable { file: file.to_owned(), fault };
    read.map(|_| bytes).map_err(unreadable)
}

/// When a certificate expires; none if that is not found in it. Browsers tell nobody but the user of an
/// expired one, who may be far from the machine; here it is told to who starts the server.
fn end_of(certificate: &[u8]) -> Option<Timestamp> {
    /// The optional version, which alone has this tag.
    const VERSION: u8 = 0xa0;
    let (_, certificate, _) = element(certificate)?;
    let (_, signed, _) = element(certificate)?;
    let (first, _, after_version) = element(signed)?;
    let rest = if first == VERSION { after_version } else { signed };
    // Serial number, algorithm, issuer, and then from when to when.
    let (_, _, rest) = element(rest)?;
    let (_, _, rest) = element(rest)?;
    let (_, _, rest) = element(rest)?;
    let (_, validity, _) = element(rest)?;
    let (_, _, rest) = element(validity)?;
    let (kind, end, _) = element(rest)?;
    time(kind, std::str::from_utf8(end).ok()?)
}

/// One element of DER: its tag, what is in it, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first()?;
    // Beyond 127 it is the number of bytes that have the length.
    let (length, rest) = match short.checked_sub(0x80) {
        None => (usize::from(short), rest),
        Some(count) => {
            let (bytes, rest) = rest.split_at_checked(usize::from(count).min(4))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// A time of DER. The short form has two digits for the years 1950 to 2049.
fn time(kind: u8, text: &str) -> Option<Timestamp> {
    const SHORT: u8 = 0x17;
    let whole = if kind == SHORT {
        let century = if text < "50" { "20" } else { "19" };
        format!("{century}{text}")
    } else {
        text.to_owned()
    };
    let time = DateTime::strptime("%Y%m%d%H%M%SZ", whole).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read_in_both_forms() {
        // What is before the end in a certificate: version, serial number, algorithm, issuer, beginning.
        let with = |before: &[u8], end: &[u8]| {
            let seq =
                |content: &[u8]| [&[0x30, u8::try_from(content.len()).unwrap()], content].concat();
            let validity = seq(&[&b"\x17\x0d250101000000Z"[..], end].concat());
            let serial = [&b"\x02\x01\x05"[..], &seq(&[]), &seq(&[])].concat();
            seq(&seq(&[before, &serial, &validity].concat()))
        };
        let version = b"\xa0\x03\x02\x01\x02";
        for before in [&version[..], &[]] {
            let short = end_of(&with(before, b"\x17\x0d260203040506Z")).unwrap();
            assert_eq!(short.to_string(), "2026-02-03T04:05:06Z");
            let long = end_of(&with(before, b"\x18\x0f20510203040506Z")).unwrap();
            assert_eq!(long.to_string(), "2051-02-03T04:05:06Z");
        }
        assert_eq!(time(0x17, "991231235959Z").unwrap().to_string(), "1999-12-31T23:59:59Z");
    }

    #[test]
    fn what_is_cut_or_no_certificate_has_no_end() {
        for bytes in
            [&b""[..], b"\x30", b"\x30\x84\xff\xff\xff\xff", b"\x30\x89", b"\x30\x02\x30\x00"]
        {
            assert_eq!(end_of(bytes), None, "{bytes:?}");
        }
    }
}
