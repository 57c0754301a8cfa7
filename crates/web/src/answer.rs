//! One request: the guard first, then its body, then what it asks for.

use crate::asks;
use crate::call::{self, Answered};
use crate::connections::Connection;
use crate::devices::{self, DeviceView, Forgotten};
use crate::events;
use crate::given::{Field, Given, usage};
use crate::guard::{self, Caller, Known, Needs, Refused};
use crate::hint;
use crate::openapi;
use crate::packed;
use crate::page;
use crate::pair;
use crate::proof;
use crate::reply::{self, Failed, Reply, dress, wrong};
use crate::shared::Shared;
use crate::signpost;
use crate::table::{self, Act, Found, GLANCE, Row, Verb};
use crate::terminal;
use crate::verbs::now;
use glis_verbs::{Complaint, Kind, Wanted};
use glis_wire::call::Scope;
use hyper::body::{Body as _, Incoming};
use hyper::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use hyper::http::request::Parts;
use hyper::http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use std::future::poll_fn;
use std::pin::Pin;
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
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

enum Place<'p> {
    Page(&'static page::Page),
    Pair,
    Proof,
    Ticket,
    Api(Found<'p>),
    /// Something that is not asked for like this.
    OtherMethod,
    Nothing,
}

pub(crate) async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let packs = packed::is_wanted(&head.headers);
    let reply = judged(&shared, head, body).await.unwrap_or_else(|Failed(reply)| *reply);
    dress(if packs { packed::pack(reply).await } else { reply })
}

async fn judged(shared: &Arc<Shared>, head: Parts, body: Incoming) -> Result<Reply, Failed> {
    if head_bytes(&head) > HEAD_BYTES_MAX {
        let told = format!("the head of a request has at most {HEAD_BYTES_MAX} bytes");
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        let hint = "send fewer headers, or what is long in the body";
        return Ok(wrong(status, "usage", &told, hint));
    }
    let connection = head.extensions.get::<Arc<Connection>>();
    connection.inspect(|connection| connection.has_spoken());
    let path = head.uri.path().to_owned();
    let place = find(&head.method, &path);
    let book = shared.devices.now().map_err(Complaint::from);
    let book = book.map_err(|told| reply::failure_as(StatusCode::SERVICE_UNAVAILABLE, &told))?;
    let known = Known { book: &book, tickets: &shared.tickets, now: now() };
    let caller = match (guard::check(&head, &shared.hosts, known, place.needs()), &place) {
        (Err(Refused::Door), Place::Page(_)) => return Ok(signpost::reply(&shared.hosts)),
        (let_in, _) => let_in?,
    };
    if let Some(caller) = &caller {
        connection.inspect(|connection| connection.is_known());
        shared.devices.note_use(known.now, &caller.id);
    }
    match (place, caller) {
        (Place::Page(page), _) => Ok(page::reply(page, &head)),
        (Place::Pair, _) => pair::pair(shared, &read(&head, body).await?),
        (Place::Ticket, _) => pair::ticket(known, &read(&head, body).await?),
        (Place::Proof, _) => {
            let entry = guard::entry(&head, &shared.hosts)?;
            Ok(proof::reply(&book, &entry.origin, &query(proof::FIELDS, "", &head)?))
        }
        (Place::Api(Found::Row(row @ Row { act: Act::Terminal, .. }, name)), Some(caller)) => {
            let given = query(row.takes, name, &head)?;
            terminal::open(Arc::clone(shared), caller, given, head)
        }
        (Place::Api(Found::Row(row, name)), Some(caller)) => {
            let given = match row.method {
                Verb::Get => query(row.takes, name, &head)?,
                Verb::Post => Given::of_body(name, &read(&head, body).await?, row.takes)?,
            };
            carry_out(shared, &caller, row, &given, &head).await
        }
        (Place::OtherMethod | Place::Api(Found::OtherMethod), _) => Ok(other_method(&path)),
        (Place::Nothing | Place::Api(Found::Nothing | Found::Row(..)), _) => Ok(nothing_here()),
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
        Place::Page(_) | Place::Pair | Place::Proof | Place::Ticket => true,
        Place::Api(found) => matches!(found, Found::Row(..)),
        Place::OtherMethod | Place::Nothing => false,
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
    wrong(StatusCode::NOT_FOUND, "not_found", "not found", hint)
}

impl Place<'_> {
    fn needs(&self) -> Needs {
        match self {
            Self::Page(page) if page.is_start() => Needs::Page,
            Self::Page(_) | Self::OtherMethod | Self::Nothing => Needs::Nothing,
            Self::Pair | Self::Proof | Self::Ticket => Needs::OwnPage,
            Self::Api(Found::Row(row, _)) => Needs::Scope(row.scope),
            // What the API does not have is told to those alone who may use it.
            Self::Api(Found::OtherMethod | Found::Nothing) => Needs::Scope(Scope::Watch),
        }
    }
}

/// What a request is for.
fn find<'p>(method: &Method, path: &'p str) -> Place<'p> {
    if path.starts_with("/api/") {
        return Place::Api(table::find(method, path));
    }
    let looks = matches!(*method, Method::GET | Method::HEAD);
    let changes = method == Method::POST;
    match (path, page::find(path)) {
        (pair::PATH, _) if changes => Place::Pair,
        (pair::TICKET_PATH, _) if changes => Place::Ticket,
        (proof::PATH, _) if looks => Place::Proof,
        (_, Some(page)) if looks => Place::Page(page),
        (pair::PATH | pair::TICKET_PATH | proof::PATH, _) | (_, Some(_)) => Place::OtherMethod,
        (_, None) => Place::Nothing,
    }
}

async fn carry_out(
    shared: &Arc<Shared>,
    caller: &Caller,
    row: &'static Row,
    given: &Given,
    head: &Parts,
) -> Result<Reply, Failed> {
    let Caller { id, name, scope, .. } = caller;
    let wanted = match row.act {
        Act::Ask(ask) => Wanted::Request(ask(given)?),
        Act::Draft(work) => {
            let (folder, work) = work(given)?;
            Wanted::Draft(folder, work)
        }
        Act::Events => return events::stream(shared, caller, head, given).await,
        // It is taken before: it keeps the connection.
        Act::Terminal => return Ok(nothing_here()),
        Act::OpenApi => return Ok(reply::document(StatusCode::OK, &openapi::document())),
        Act::Device => {
            let who = DeviceView { id: id.clone(), name: name.clone(), scope: *scope };
            return Ok(reply::document(StatusCode::OK, &who));
        }
        Act::Forget => {
            shared.devices.change(|book| Ok(book.revoke(id)))?;
            return Ok(reply::document(StatusCode::OK, &Forgotten { forgotten: name.clone() }));
        }
    };
    let (key, needs) = (key(head, caller)?, wanted.scope());
    // Some options need more than the verb does.
    if *scope < needs {
        return Err(Refused::Scope { has: *scope, needs }.into());
    }
    let (done, place) = served(shared, caller, call::ask(shared, caller, key, wanted)).await?;
    let reply = done.map(|mut done| {
        asks::lay_out(&mut done.document);
        let document = terminal::as_runs(done.document);
        // What was looked at may be bad, and was looked at all the same.
        let exit = if row.method == Verb::Get { 0 } else { done.exit };
        reply::document(reply::status_of(exit), &document)
    });
    let reply = reply.unwrap_or_else(|told| {
        let mut told = discreet(row, given, told);
        // The page has words of its own.
        if caller.kind == devices::Kind::Token {
            told.hint = told.hint.as_deref().map(hint::in_http);
        }
        reply::failure(&told)
    });
    Ok(reply.map(|body| body.held(place)))
}

/// Who only looks is not told what is at a path that is in no repository: a file, a folder or nothing.
fn discreet(row: &Row, given: &Given, told: Complaint) -> Complaint {
    match given.text("repo") {
        Some(repo) if row.scope == Scope::Watch && told.kind == Kind::Usage => {
            Complaint::new(Kind::NotFound, format!("there is no repository at `{repo}`"))
                .hint("name a folder of a repository of this machine")
        }
        Some(_) | None => told,
    }
}

/// What a call comes to, unless its device is not let in any more by then.
async fn served(
    shared: &Shared,
    caller: &Caller,
    call: impl Future<Output = Result<Answered, Complaint>>,
) -> Result<Answered, Failed> {
    let answered = tokio::select! {
        answered = call => answered,
        () = shared.devices.until_gone(&caller.id, caller.scope) => {
            return Err(Refused::Credential.into());
        }
    };
    // Both may have come to pass.
    if !shared.devices.still_has(&caller.id, caller.scope) {
        return Err(Refused::Credential.into());
    }
    Ok(answered?)
}

fn query(takes: &[Field], name: &str, head: &Parts) -> Result<Given, Complaint> {
    let query = head.uri.query().unwrap_or_default();
    let mut pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    // Who asks for a head alone sees nothing, so it is no look.
    if head.method == Method::HEAD && takes.iter().any(|field| field.name == GLANCE) {
        pairs.retain(|(name, _)| name != GLANCE);
        pairs.push((GLANCE.to_owned(), "true".to_owned()));
    }
    Given::of_query(name, pairs, takes)
}

/// The key of a change. A device has keys of its own: it cannot ask for what another was told.
fn key(head: &Parts, caller: &Caller) -> Result<Option<String>, Complaint> {
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
async fn read(head: &Parts, body: Incoming) -> Result<Vec<u8>, Failed> {
    let too_long = || {
        let told = format!("a body has at most {BODY_BYTES_MAX} bytes");
        let hint = "put it into a file of the worktree and send the file's name";
        wrong(StatusCode::PAYLOAD_TOO_LARGE, "usage", &told, hint)
    };
    let announced = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let announced = announced.and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > BODY_BYTES_MAX) {
        return Err(too_long().into());
    }
    let late = |_| {
        let (status, hint) = (StatusCode::REQUEST_TIMEOUT, "send it faster");
        wrong(status, "timed_out", "the body did not come in time", hint)
    };
    let broken = |_| {
        let hint = "its length or its chunks are not what the head says";
        wrong(StatusCode::BAD_REQUEST, "usage", "the body is broken", hint)
    };
    let body = tokio::time::timeout(BODY_TIME, taken(body)).await.map_err(late)?;
    let body = body.map_err(broken)?.ok_or_else(too_long)?;
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if !body.is_empty() && !kind.trim().eq_ignore_ascii_case("application/json") {
        let (status, hint) =
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "add `Content-Type: application/json`");
        return Err(wrong(status, "usage", "a body is JSON", hint).into());
    }
    Ok(body)
}

/// A body, unless it is longer than it may be.
async fn taken(mut body: Incoming) -> Result<Option<Vec<u8>>, hyper::Error> {
    let mut all = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        all.extend_from_slice(&frame?.into_data().unwrap_or_default());
        if all.len() > BODY_BYTES_MAX {
            return Ok(None);
        }
    }
    Ok(Some(all))
}
