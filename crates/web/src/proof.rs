//! The server proves to a page that it is the one which paired it, and that the page is its own. A page sends its
//! secret, and whatever else it has, only after that: another account of the machine may have taken the port.

use crate::devices::Book;
use crate::given::{Field, Given, Kind, must};
use crate::reply::{self, Reply, wrong};
use crate::secret;
use hyper::http::StatusCode;
use serde_json::json;

/// Where it is asked for. It is not below the API: who asks shows no credential.
pub(crate) const PATH: &str = "/proof";

pub(crate) const FIELDS: &[Field] = &[
    must("device", Kind::Text, "the id of the device"),
    must("nonce", Kind::Text, "what the proof is for: something that was never asked before"),
];

/// The hash of what both know, where the page is, and what only this question has. With another origin it is another
/// one, so that a server which is asked in our place cannot pass ours on. None if nobody was ever paired.
pub(crate) fn of(book: &Book, origin: &str, id: &str, nonce: &str) -> Option<String> {
    book.server_key(id).map(|key| secret::hash(&format!("{key} {origin} {nonce}")))
}

/// It is given for any device: whether there is such a one, who asks for it does not learn.
pub(crate) fn reply(book: &Book, origin: &str, given: &Given) -> Reply {
    let proof = of(book, origin, &given.needed("device"), &given.needed("nonce"));
    let Some(proof) = proof else {
        let (message, hint) = ("no device was paired here", "`glis web pair` lets one in");
        return wrong(StatusCode::NOT_FOUND, "not_found", message, hint);
    };
    reply::document(StatusCode::OK, &json!({"proof": proof}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_wire::call::Scope;

    #[test]
    fn a_proof_is_for_one_page_one_device_and_one_question() {
        let mut book = Book::default();
        assert_eq!(of(&book, "http://a:1", "1", "x"), None);
        book.offer(1_800_000_000, "phone", Scope::Watch).unwrap();
        let given = ["http://a:1", "1", "x"];
        let proof = |[origin, id, nonce]: [&str; 3]| of(&book, origin, id, nonce).unwrap();
        assert_eq!(proof(given), proof(given));
        for other in [["http://a:2", "1", "x"], ["http://a:1", "2", "x"], ["http://a:1", "1", "y"]]
        {
            assert_ne!(proof(other), proof(given), "{other:?}");
        }
    }
}
