//! One request: the guard first, then its body, then what it asks for.

use crate::Told;
use crate::asks;
use crate::call::{self, Answered};
use crate::connections::Connection;
use crate::devices::Book;
use crate::events;
use crate::given::{Field, Given, usage};
use crate::guard::{self, Caller, Known, Needs};
use crate::openapi;
use crate::page;
use crate::pair;
use crate::proof;
use crate::reply::{self, Reply, dress, wrong};
use crate::shared::Shared;
use crate::signpost;
use crate::table::{self, Act, Found, GLANCE, Gives, Row, Verb};
use crate::terminal;
use crate::verbs::{now, told};
use axum::body::{Body, Bytes};
use axum::extract::Query;
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use glis_wire::call::Scope;
use hyper::body::Incoming;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// A ticket and some headers are a few kilobytes.
pub(crate) const HEAD_BYTES_MAX: usize = 32 * 1024;
/// A message has at most one megabyte, and as many escapes again.
const BODY_BYTES_MAX: usize = 3 * 1024 * 1024;
/// A body that takes longer does not end.
const BODY_TIME: Duration = Duration::from_secs(20);
/// With the device's own name before it, a key is still shorter than the daemon allows.
const KEY_BYTES_MAX: usize = 128;
/// Exit statuses of the command line.
const WRONG_USE: u8 = 2;
const NOT_FOUND: u8 = 3;
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// What a path is.
enum Place<'p> {
    Page(&'static page::Page),
    Pair,
    Proof,
    Ticket,
    Row(&'static Row, &'p str),
    /// Something that is not asked for like this.
    OtherMethod(Needs),
    Nothing(Needs),
}

pub(crate) async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    dress(judged(&shared, head, body).await)
}

async fn judged(shared: &Arc<Shared>, head: Parts, body: Incoming) -> Reply {
    if head_bytes(&head) > HEAD_BYTES_MAX {
        let told = format!("the head of a request has at most {HEAD_BYTES_MAX} bytes");
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return wrong(status, "usage", &told, "send fewer headers, or what is long in the body");
    }
    let connection = head.extensions.get::<Arc<Connection>>();
    connection.inspect(|connection| connection.has_spoken());
    let path = head.uri.path().to_owned();
    let place = find(&head.method, &path);
    let book = match shared.devices.now() {
        Ok(book) => book,
        Err(fault) => return reply::failure_as(StatusCode::SERVICE_UNAVAILABLE, &told(&fault)),
    };
    let known = Known { book: &book, tickets: &shared.tickets, now: now() };
    let let_in = guard::check(&head, &shared.hosts, known, place.needs());
    let caller = match (let_in, &place) {
        (Ok(caller), _) => caller,
        (Err(guard::Refused::Door), Place::Page(_)) => return signpost::reply(&shared.hosts),
        (Err(why), _) => return reply::refused(why),
    };
    if let Some(caller) = &caller {
        connection.inspect(|connection| connection.is_known());
        shared.devices.note_use(known.now, &caller.id);
    }
    match (place, caller) {
        (Place::Page(page), _) => page::reply(page, &head),
        (Place::Pair, _) => match read(&head, body).await {
            Ok(body) => pair::pair(shared, &body),
            Err(reply) => reply,
        },
        (Place::Ticket, _) => match read(&head, body).await {
            Ok(body) => pair::ticket(known, &body),
            Err(reply) => reply,
        },
        (Place::Proof, _) => prove(shared, &book, &head),
        (Place::Row(row @ Row { act: Act::Terminal, .. }, name), Some(caller)) => {
            match query(row.takes, name, &head) {
                Ok(given) => terminal::open(Arc::clone(shared), caller, given, head).await,
                Err(told) => reply::failure(&told),
            }
        }
        (Place::Row(row, name), Some(caller)) => {
            let body = match row.method {
                Verb::Post => read(&head, body).await,
                Verb::Get => Ok(Bytes::new()),
            };
            match body {
                Ok(body) => carry_out(shared, &caller, row, name, (&head, &body)).await,
                Err(reply) => reply,
            }
        }
        (Place::OtherMethod(_), _) => other_method(&path),
        (Place::Nothing(_), _) | (Place::Row(..), None) => nothing_here(),
    }
}

fn prove(shared: &Shared, book: &Book, head: &Parts) -> Reply {
    match (guard::entry(head, &shared.hosts), query(proof::FIELDS, "", head)) {
        (Ok(entry), Ok(given)) => proof::reply(book, &entry.origin, &given),
        (Err(why), _) => reply::refused(why),
        (Ok(_), Err(told)) => reply::failure(&told),
    }
}

/// About as many bytes as it came in.
fn head_bytes(head: &Parts) -> usize {
    /// The colon, the blank and the end of a line.
    const REST: usize = 4;
    let line =
        |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + REST;
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    target + head.headers.iter().map(line).sum::<usize>()
}

fn other_method(path: &str) -> Reply {
    let mut reply = wrong(
        StatusCode::METHOD_NOT_ALLOWED,
        "usage",
        "this is not asked for by that method",
        "GET looks, POST changes",
    );
    let can = |method: &Method| match find(method, path) {
        Place::Page(_) | Place::Pair | Place::Proof | Place::Ticket | Place::Row(..) => true,
        Place::OtherMethod(_) | Place::Nothing(_) => false,
    };
    let methods = [Method::GET, Method::HEAD, Method::POST];
    let methods: Vec<_> = methods.iter().filter(|method| can(method)).map(Method::as_str).collect();
    if let Ok(methods) = HeaderValue::from_str(&methods.join(", ")) {
        reply.headers_mut().insert(ALLOW, methods);
    }
    reply
}

fn nothing_here() -> Reply {
    let hint = "GET /api/v1/openapi.json lists what there is";
    wrong(StatusCode::NOT_FOUND, "not_found", "there is nothing here", hint)
}

impl Place<'_> {
    fn needs(&self) -> Needs {
        match self {
            Self::Page(page) if page.is_start() => Needs::Page,
            Self::Page(_) => Needs::Nothing,
            Self::Pair | Self::Proof | Self::Ticket => Needs::OwnPage,
            Self::Row(row, _) => Needs::Scope(row.scope),
            Self::OtherMethod(needs) | Self::Nothing(needs) => *needs,
        }
    }
}

/// What a request is for. What the API does not have is told to those alone who may use it.
fn find<'p>(method: &Method, path: &'p str) -> Place<'p> {
    if path.starts_with("/api/") {
        let looks = Needs::Scope(Scope::Watch);
        return match table::find(method, path) {
            Found::Row(row, name) => Place::Row(row, name),
            Found::OtherMethod => Place::OtherMethod(looks),
            Found::Nothing => Place::Nothing(looks),
        };
    }
    let looks = matches!(*method, Method::GET | Method::HEAD);
    let changes = method == Method::POST;
    match (path, page::find(path)) {
        (pair::PATH, _) if changes => Place::Pair,
        (pair::TICKET_PATH, _) if changes => Place::Ticket,
        (proof::PATH, _) if looks => Place::Proof,
        (_, Some(page)) if looks => Place::Page(page),
        (pair::PATH | pair::TICKET_PATH | proof::PATH, _) | (_, Some(_)) => {
            Place::OtherMethod(Needs::Nothing)
        }
        (_, None) => Place::Nothing(Needs::Nothing),
    }
}

async fn carry_out(
    shared: &Arc<Shared>,
    caller: &Caller,
    row: &'static Row,
    name: &str,
    (head, body): (&Parts, &Bytes),
) -> Reply {
    let given = match row.method {
        Verb::Get => query(row.takes, name, head),
        Verb::Post => Given::of_body(name, body, row.takes),
    };
    let given = match given {
        Ok(given) => given,
        Err(told) => return reply::failure(&told),
    };
    match row.act {
        Act::Ask(request) => {
            let asked = request(&given).and_then(|request| Ok((request, key(head, caller)?)));
            let (request, key) = match asked {
                Ok(asked) => asked,
                Err(told) => return reply::failure(&told),
            };
            let needs = request.scope();
            // Some options need more than the verb does.
            if caller.scope < needs {
                return reply::refused(guard::Refused::Scope { has: caller.scope, needs });
            }
            let (done, place) =
                match served(shared, caller, call::ask(shared, caller, key, request)).await {
                    Ok(answered) => answered,
                    Err(reply) => return reply,
                };
            let done = done.map_err(|told| discreet(row, &given, told));
            let reply = done.map(|mut done| {
                match row.gives {
                    Gives::Screen => terminal::as_runs(&mut done.document),
                    Gives::Session | Gives::Sessions => asks::lay_out(&mut done.document),
                    Gives::Object | Gives::Array | Gives::Stream | Gives::Frames => {}
                }
                reply::document(reply::status_of(done.exit), &done.document)
            });
            reply::held(reply.unwrap_or_else(|told| reply::failure(&told)), place)
        }
        Act::Work(work) => {
            let asked = work(&given).and_then(|work| Ok((work, key(head, caller)?)));
            let (work, key) = match asked {
                Ok(asked) => asked,
                Err(told) => return reply::failure(&told),
            };
            match served(shared, caller, call::work(shared, caller, (key, row.scope), work)).await {
                Ok((Ok(done), _)) => reply::document(reply::status_of(done.exit), &done.document),
                Ok((Err(told), _)) => reply::failure(&discreet(row, &given, told)),
                Err(reply) => reply,
            }
        }
        Act::Events => events::stream(shared, caller, head, &given).await,
        // Taken before: it keeps the connection.
        Act::Terminal => nothing_here(),
        Act::OpenApi => reply::document(StatusCode::OK, &openapi::document()),
        Act::Device => {
            let Caller { id, name, scope, .. } = caller;
            let who = json!({"id": id, "name": name, "scope": scope.word()});
            reply::document(StatusCode::OK, &who)
        }
        Act::Forget => match shared.devices.change(|book| Ok(book.revoke(&caller.id))) {
            Ok(_) => reply::document(StatusCode::OK, &json!({"forgotten": caller.name})),
            Err(fault) => reply::failure(&told(&fault)),
        },
    }
}

/// Who only looks is not told what is at a path that is in no repository: a file, a folder or nothing.
fn discreet(row: &Row, given: &Given, told: Told) -> Told {
    match given.text("repo") {
        Some(repo) if row.scope == Scope::Watch && told.exit == WRONG_USE => Told {
            exit: NOT_FOUND,
            kind: "not_found".to_owned(),
            message: format!("there is no repository at `{repo}`"),
            hint: Some("name a folder of a repository of this machine".to_owned()),
        },
        Some(_) | None => told,
    }
}

/// What a call comes to, unless its device is not let in any more by then.
async fn served(
    shared: &Shared,
    caller: &Caller,
    call: impl Future<Output = Result<Answered, Told>>,
) -> Result<Answered, Reply> {
    let answered = tokio::select! {
        answered = call => answered,
        () = shared.devices.until_gone(&caller.id, caller.scope) => {
            return Err(reply::refused(guard::Refused::Credential));
        }
    };
    // Both may have come to pass.
    if !shared.devices.still_has(&caller.id, caller.scope) {
        return Err(reply::refused(guard::Refused::Credential));
    }
    answered.map_err(|told| reply::failure(&told))
}

fn query(takes: &[Field], name: &str, head: &Parts) -> Result<Given, Told> {
    match Query::<Vec<(String, String)>>::try_from_uri(&head.uri) {
        Ok(Query(mut pairs)) => {
            // Who asks for a head alone sees nothing, so it is no look.
            if head.method == Method::HEAD && takes.iter().any(|field| field.name == GLANCE) {
                pairs.retain(|(name, _)| name != GLANCE);
                pairs.push((GLANCE.to_owned(), "true".to_owned()));
            }
            Given::of_query(name, pairs, takes)
        }
        Err(_) => Err(usage("the query is not understood")),
    }
}

/// The key of a change. A device has keys of its own: it cannot ask for what another was told.
fn key(head: &Parts, caller: &Caller) -> Result<Option<String>, Told> {
    let mut keys = head.headers.get_all(KEY).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    if keys.next().is_some() {
        return Err(usage("an Idempotency-Key is given once"));
    }
    let text = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_BYTES_MAX);
    let wrong = || usage(&format!("an Idempotency-Key has 1 to {KEY_BYTES_MAX} characters"));
    text.map(|key| Some(format!("web:{}:{key}", caller.id))).ok_or_else(wrong)
}

/// The body of a request that was let in: bounded in size and in time, and JSON. A form of another page
/// could not say so.
async fn read(head: &Parts, body: Incoming) -> Result<Bytes, Reply> {
    let too_long = || {
        wrong(
            StatusCode::PAYLOAD_TOO_LARGE,
            "usage",
            &format!("a body has at most {BODY_BYTES_MAX} bytes"),
            "put it into a file of the worktree and send the file's name",
        )
    };
    let announced = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let announced = announced.and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > BODY_BYTES_MAX) {
        return Err(too_long());
    }
    let reading = axum::body::to_bytes(Body::new(body), BODY_BYTES_MAX);
    let body = match tokio::time::timeout(BODY_TIME, reading).await {
        Ok(Ok(body)) => body,
        Ok(Err(fault)) if is_broken(&fault) => {
            let hint = "its length or its chunks are not what the head says";
            return Err(wrong(StatusCode::BAD_REQUEST, "usage", "the body is broken", hint));
        }
        Ok(Err(_)) => return Err(too_long()),
        Err(_) => {
            let (status, hint) = (StatusCode::REQUEST_TIMEOUT, "send it faster");
            return Err(wrong(status, "timed_out", "the body did not come in time", hint));
        }
    };
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| {
        kind.split(';')
            .next()
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    });
    if !body.is_empty() && !is_json {
        return Err(wrong(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "usage",
            "a body is JSON",
            "add `Content-Type: application/json`",
        ));
    }
    Ok(body)
}

/// Whether a body could not be read, rather than being longer than it may be.
fn is_broken(fault: &(dyn std::error::Error + 'static)) -> bool {
    fault.is::<hyper::Error>() || fault.source().is_some_and(is_broken)
}
