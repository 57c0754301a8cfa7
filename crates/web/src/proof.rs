//! The server proves to a page that it is the one which paired it. A page whose server has ended looks for it without
//! its cookie: another account of the machine may have taken the port meanwhile.

use crate::devices::Book;
use crate::given::{Field, Given, Kind, must};
use crate::reply::{self, Reply, wrong};
use crate::secret;
use axum::http::StatusCode;
use serde_json::json;

/// Where it is asked for. It is not below the API: who asks shows no credential.
pub(crate) const PATH: &str = "/proof";

pub(crate) const FIELDS: &[Field] = &[
    must("device", Kind::Text, "the id of the device"),
    must("nonce", Kind::Text, "what the proof is for: something that was never asked before"),
];

/// The hash of what both know and what only this question has.
pub(crate) fn reply(book: &Book, given: &Given) -> Reply {
    let (id, nonce) = (given.text("device"), given.text("nonce").unwrap_or_default());
    let device = book.devices.iter().find(|device| Some(&device.id) == id.as_ref());
    let Some(device) = device else {
        let (message, hint) = ("there is no such device", "`glis web pair` lets one in");
        return wrong(StatusCode::NOT_FOUND, "not_found", message, hint);
    };
    let proof = secret::hash(&format!("{} {nonce}", device.server_key()));
    reply::document(StatusCode::OK, &json!({"proof": proof}))
}
