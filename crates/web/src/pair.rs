//! Pairing: a code is exchanged for a cookie.

use crate::given::{Field, Given, Kind, must};
use crate::reply::{self, Reply};
use crate::shared::Shared;
use crate::verbs::{document, now, told};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, StatusCode};
use serde_json::json;

/// Where a code is brought. It is not below the API: who comes here has no credential yet.
pub(crate) const PATH: &str = "/pair";

const FIELDS: &[Field] = &[must("code", Kind::Text, "the code of the link")];

/// Browsers keep no cookie for longer.
const COOKIE_SECS: u32 = 400 * 24 * 60 * 60;

pub(crate) fn pair(shared: &Shared, body: &[u8]) -> Reply {
    let given = match Given::of_body("", body, FIELDS) {
        Ok(given) => given,
        Err(told) => return reply::failure(&told),
    };
    let code = given.text("code").unwrap_or_default();
    match shared.devices.redeem(now(), &code) {
        Ok((device, secret)) => {
            let mut told = document(&device);
            told["server_key"] = json!(device.server_key());
            let mut reply = reply::document(StatusCode::OK, &told);
            set_cookie(shared, &mut reply, &secret, COOKIE_SECS);
            reply
        }
        Err(fault) => reply::failure(&told(&fault)),
    }
}

/// Takes the cookie away again.
pub(crate) fn forget(shared: &Shared, reply: &mut Reply) {
    set_cookie(shared, reply, "", 0);
}

fn set_cookie(shared: &Shared, reply: &mut Reply, secret: &str, secs: u32) {
    let (name, rules) = (shared.hosts.cookie(), shared.hosts.cookie_rules());
    let cookie = format!("{name}={secret}{rules}; Max-Age={secs}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        reply.headers_mut().insert(SET_COOKIE, cookie);
    }
}
