//! The server's own requests, for whoever runs it by hand: what came, and which gates are shut.

use crate::gates::Gates;
use crate::http::{Reply, Request};
use crate::ledger::Ledger;
use serde_json::{Value, json};
use std::io;

/// No agent asks for anything below this.
const ROOM: &str = "/-/";

/// Answers a request for the server itself; `None` if it is one for the model.
pub(crate) fn answer(
    request: &Request,
    ledger: &Ledger,
    gates: &Gates,
    reply: &mut Reply,
) -> Option<io::Result<()>> {
    let words: Vec<&str> = request.path().strip_prefix(ROOM)?.split('/').collect();
    let found = match (request.method.as_str(), words.as_slice()) {
        ("GET", ["requests"]) => Some(summary(ledger)),
        ("GET", ["requests", number]) => one(ledger, number),
        ("GET", ["gates"]) => Some(shut(gates)),
        ("POST", ["gates", name, "open"]) => {
            gates.open(name);
            Some(shut(gates))
        }
        _ => None,
    };
    let missing = json!({"error": "GET requests, requests/N, gates; POST gates/NAME/open"});
    Some(match found {
        Some(body) => reply.json(200, &[], &body),
        None => reply.json(404, &[], &missing),
    })
}

fn summary(ledger: &Ledger) -> Value {
    let all = ledger.all().into_iter().map(|received| {
        json!({"number": received.number, "purpose": received.purpose,
            "protocol": received.protocol, "target": received.target,
            "conversation": received.conversation, "turns": received.turns.len(),
            "prompt": received.prompt(), "outcome": received.outcome})
    });
    all.collect()
}

fn one(ledger: &Ledger, number: &str) -> Option<Value> {
    let number: usize = number.parse().ok()?;
    let received = ledger.all().into_iter().find(|received| received.number == number)?;
    serde_json::to_value(received).ok()
}

fn shut(gates: &Gates) -> Value {
    let all = gates.list().into_iter();
    all.map(|(name, open, waiting)| json!({"name": name, "open": open, "waiting": waiting}))
        .collect()
}
