//! Pairing: a code is exchanged for a secret, and the secret for tickets.

use crate::devices::{Kind, Paired};
use crate::given::{self, Field, Given, must};
use crate::guard::{Known, Refused};
use crate::reply::{self, Failed, Reply};
use crate::shared::Shared;
use crate::verbs::{document, now};
use hyper::http::StatusCode;
use serde_json::json;

/// Where a code is brought. It is not below the API: who comes here has no credential yet.
pub(crate) const PATH: &str = "/pair";
/// Where a ticket is asked for; the same holds there.
pub(crate) const TICKET_PATH: &str = "/ticket";

const CODE: &[Field] = &[must("code", given::Kind::Text, "the code of the link")];
const SECRET: &[Field] =
    &[must("secret", given::Kind::Text, "what the browser was given when it was paired")];

pub(crate) fn pair(shared: &Shared, body: &[u8]) -> Result<Reply, Failed> {
    let code = Given::of_body("", body, CODE)?.needed("code");
    let Paired { device, secret, server_key } = shared.devices.redeem(now(), &code)?;
    let mut told = document(&device);
    told["secret"] = json!(secret);
    told["server_key"] = json!(server_key);
    Ok(reply::document(StatusCode::OK, &told))
}

pub(crate) fn ticket(known: Known<'_>, body: &[u8]) -> Result<Reply, Failed> {
    let secret = Given::of_body("", body, SECRET)?.needed("secret");
    let device = known.book.owner(Kind::Browser, &secret).ok_or(Refused::Credential)?;
    if device.has_expired(known.now) {
        return Err(Refused::Expired.into());
    }
    Ok(reply::document(StatusCode::OK, &json!({"ticket": known.tickets.of(device)})))
}
