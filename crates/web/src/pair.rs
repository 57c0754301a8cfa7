//! Pairing: a code is exchanged for a secret, and the secret for tickets.

use crate::devices::{Kind, Paired};
use crate::given::{self, Field, Given, must};
use crate::guard::{Known, Refused};
use crate::reply::{self, Reply};
use crate::shared::Shared;
use crate::verbs::{document, now, told};
use axum::http::StatusCode;
use serde_json::json;

/// Where a code is brought. It is not below the API: who comes here has no credential yet.
pub(crate) const PATH: &str = "/pair";
/// Where a ticket is asked for; the same holds there.
pub(crate) const TICKET_PATH: &str = "/ticket";

const CODE: &[Field] = &[must("code", given::Kind::Text, "the code of the link")];
const SECRET: &[Field] =
    &[must("secret", given::Kind::Text, "what the browser was given when it was paired")];

pub(crate) fn pair(shared: &Shared, body: &[u8]) -> Reply {
    let given = match Given::of_body("", body, CODE) {
        Ok(given) => given,
        Err(told) => return reply::failure(&told),
    };
    let code = given.text("code").unwrap_or_default();
    match shared.devices.redeem(now(), &code) {
        Ok(Paired { device, secret, server_key }) => {
            let mut told = document(&device);
            told["secret"] = json!(secret);
            told["server_key"] = json!(server_key);
            reply::document(StatusCode::OK, &told)
        }
        Err(fault) => reply::failure(&told(&fault)),
    }
}

pub(crate) fn ticket(known: Known<'_>, body: &[u8]) -> Reply {
    let given = match Given::of_body("", body, SECRET) {
        Ok(given) => given,
        Err(told) => return reply::failure(&told),
    };
    let secret = given.text("secret").unwrap_or_default();
    match known.book.owner(Kind::Browser, &secret) {
        None => reply::refused(Refused::Credential),
        Some(device) if device.has_expired(known.now) => reply::refused(Refused::Expired),
        Some(device) => {
            reply::document(StatusCode::OK, &json!({"ticket": known.tickets.of(device)}))
        }
    }
}
