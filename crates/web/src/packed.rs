//! Answers in fewer bytes, for whoever can unpack them: most is text that says the same names again and again.
//!
//! Nothing that is secret stands in an answer that is packed beside what somebody else may have written: tickets and codes
//! come in answers of their own, which are too small.

use crate::body::Body;
use crate::reply::Reply;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::http::HeaderValue;
use hyper::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use std::io::Write as _;
use tokio::task::spawn_blocking;

pub(crate) const GZIP: &str = "gzip";
/// Less goes in one packet as it is.
const BYTES_MIN: usize = 1400;
/// More is packed beside the others' answers.
const BYTES_AT_ONCE: usize = 64 * 1024;

/// Whether the caller unpacks.
pub(crate) fn is_wanted(headers: &HeaderMap) -> bool {
    let named = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    named.flat_map(|value| value.split(',')).any(|one| {
        let (name, quality) = one.split_once(';').unwrap_or((one, ""));
        let refused = quality.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case(GZIP) && !refused
    })
}

/// The answer, packed where that saves something.
pub(crate) async fn pack(mut reply: Reply) -> Reply {
    let is_packed = reply.headers().contains_key(CONTENT_ENCODING);
    let Body::Whole { rest, .. } = reply.body_mut() else { return reply };
    if rest.len() < BYTES_MIN || is_packed {
        return reply;
    }
    let whole = rest.clone();
    let pack = move || packed(&whole, Compression::fast());
    let packed = if rest.len() <= BYTES_AT_ONCE {
        pack()
    } else {
        spawn_blocking(pack).await.ok().flatten()
    };
    if let Some(packed) = packed {
        *rest = packed;
        reply.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(GZIP));
    }
    reply
}

pub(crate) fn packed(whole: &[u8], how: Compression) -> Option<Bytes> {
    let mut packed = GzEncoder::new(Vec::new(), how);
    packed.write_all(whole).ok()?;
    packed.finish().ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use hyper::Response;
    use std::io::Read as _;

    fn wanted(told: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(told));
        is_wanted(&headers)
    }

    #[test]
    fn who_cannot_unpack_gets_it_as_it_is() {
        assert!(wanted("gzip") && wanted("deflate, GZIP;q=0.5, br"));
        assert!(!wanted("br") && !wanted("gzip;q=0") && !wanted("") && !wanted("*"));
        assert!(!is_wanted(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn what_is_packed_is_the_same_and_what_is_small_is_left() {
        for length in [BYTES_MIN, BYTES_AT_ONCE + 1] {
            let text: String = "again and again ".chars().cycle().take(length).collect();
            let reply = pack(Response::new(Body::of(text.clone()))).await;
            assert_eq!(reply.headers().get(CONTENT_ENCODING).unwrap(), GZIP);
            let Body::Whole { rest, .. } = reply.into_body() else { panic!("no body") };
            assert!(rest.len() < length / 10, "{}", rest.len());
            let mut unpacked = String::new();
            GzDecoder::new(&rest[..]).read_to_string(&mut unpacked).unwrap();
            assert_eq!(unpacked, text);
        }
        let small = pack(Response::new(Body::of("{}"))).await;
        assert!(small.headers().get(CONTENT_ENCODING).is_none());
    }
}
