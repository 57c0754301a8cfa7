//! The table of the API: verb, path, options, what is asked of the daemon. Routes and `openapi.json` are
//! made of it.

mod house;
mod making;
mod plans;
mod sessions;

use crate::given::{Field, Given, Kind, must};
use glis_verbs::Complaint;
use glis_wire::call::Scope;
use glis_wire::client::Request;
use glis_wire::plan::DraftWork;
use hyper::http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::path::PathBuf;

/// Everything of the API is below this.
pub(crate) const ROOT: &str = "/api/v1";

/// The option of a look that does not count as one of a person.
pub(crate) const GLANCE: &str = "glance";

const REPO: Field = must("repo", Kind::Path, "an absolute path of a folder in the repository");

/// One thing that can be asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The command line's words for it, or some like them: they name the operation.
    pub(crate) verb: &'static str,
    pub(crate) method: Verb,
    /// Below [`ROOT`]; `{session}` is a name or an id.
    pub(crate) path: &'static str,
    /// The least scope that may ask for it. The daemon looks again, at what exactly is asked for.
    pub(crate) scope: Scope,
    /// What it does, in a sentence.
    pub(crate) does: &'static str,
    pub(crate) takes: &'static [Field],
    pub(crate) gives: Gives,
    pub(crate) act: Act,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
}

/// What is answered.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gives {
    /// A document of a type.
    Json(fn(&mut SchemaGenerator) -> Schema),
    /// Server-sent events.
    Stream,
    /// A WebSocket.
    Frames,
}

/// A document of this type.
const fn json<T: JsonSchema>() -> Gives {
    Gives::Json(SchemaGenerator::subschema_for::<T>)
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    /// The daemon, asked for this.
    Ask(fn(&Given) -> Result<Request, Complaint>),
    /// Something is done with the draft of a plan.
    Draft(fn(&Given) -> Result<(PathBuf, DraftWork), Complaint>),
    Events,
    Terminal,
    OpenApi,
    /// What is known of the caller.
    Device,
    Forget,
}

impl Verb {
    pub(crate) fn is(self, method: &Method) -> bool {
        match self {
            // The answer to HEAD is that to GET, of which only the head is sent.
            Self::Get => matches!(*method, Method::GET | Method::HEAD),
            Self::Post => *method == Method::POST,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}

/// A row that is filled in step by step.
const fn row(
    method: Verb,
    verb: &'static str,
    path: &'static str,
    scope: Scope,
    gives: Gives,
) -> Row {
    Row { verb, method, path, scope, does: "", takes: &[], gives, act: Act::OpenApi }
}

impl Row {
    const fn does(self, does: &'static str) -> Self {
        Self { does, ..self }
    }

    const fn takes(self, takes: &'static [Field]) -> Self {
        Self { takes, ..self }
    }

    const fn asks(self, ask: fn(&Given) -> Result<Request, Complaint>) -> Self {
        self.acts(Act::Ask(ask))
    }

    const fn acts(self, act: Act) -> Self {
        Self { act, ..self }
    }
}

/// Every row, by what it is about.
pub(crate) const TABLE: [(&str, &[Row]); 4] = [
    ("house", house::ROWS),
    ("sessions", making::ROWS),
    ("sessions", sessions::ROWS),
    ("plans", plans::ROWS),
];

/// Every row.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().flat_map(|(_, rows)| *rows)
}

/// What a path leads to.
#[derive(Debug)]
pub(crate) enum Found<'p> {
    /// This, with a name from the path.
    Row(&'static Row, &'p str),
    /// Something that is not asked for like this.
    OtherMethod,
    /// Nothing.
    Nothing,
}

/// Finds the row for a request.
pub(crate) fn find<'p>(method: &Method, path: &'p str) -> Found<'p> {
    let Some(path) = path.strip_prefix(ROOT) else { return Found::Nothing };
    let mut found = Found::Nothing;
    for row in rows() {
        let Some(name) = matches(row.path, path) else { continue };
        if row.method.is(method) {
            return Found::Row(row, name);
        }
        found = Found::OtherMethod;
    }
    found
}

/// The name in a path of this pattern. Names need no percent signs.
fn matches<'p>(pattern: &str, path: &'p str) -> Option<&'p str> {
    let mut name = "";
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(name),
            (Some("{session}"), Some(part)) if !part.is_empty() && !part.contains('%') => {
                name = part;
            }
            (Some(wanted), Some(given)) if wanted == given => {}
            (Some(_) | None, _) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn found(method: &Method, path: &str) -> String {
        match find(method, path) {
            Found::Row(row, name) => format!("{} {name}", row.verb),
            Found::OtherMethod => "other".to_owned(),
            Found::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn a_path_leads_to_its_row_and_to_no_other() {
        let get = |path| found(&Method::GET, path);
        assert_eq!(get("/api/v1/sessions"), "ls ");
        assert_eq!(get("/api/v1/sessions/blue"), "show blue");
        assert_eq!(get("/api/v1/sessions/blue/log"), "log blue");
        assert_eq!(found(&Method::POST, "/api/v1/sessions/blue/send"), "send blue");
        assert_eq!(get("/api/v1/sessions/blue/send"), "other");
        assert_eq!(found(&Method::DELETE, "/api/v1/sessions"), "other");
        for path in ["/api/v1/sessions/", "/api/v1/sessions//log", "/api/v1", "/api/v2/sessions"] {
            assert_eq!(get(path), "nothing", "{path}");
        }
        assert_eq!(get("/api/v1/sessions/a%2fb"), "nothing");
    }

    #[test]
    fn no_row_asks_for_more_than_its_scope_or_hides_another() {
        let mut seen = BTreeSet::new();
        for row in rows() {
            assert!(seen.insert((row.path, row.method.word())), "{} twice", row.path);
            let Act::Ask(request) = row.act else { continue };
            let needed: serde_json::Map<String, serde_json::Value> = row
                .takes
                .iter()
                // What has to be confirmed is, and one of several that would do is given.
                .filter(|f| f.needed || matches!(f.name, "yes" | "prompt" | "max_failures"))
                .map(|field| (field.name.to_owned(), example(field)))
                .collect();
            let body = serde_json::json!(needed);
            let given = Given::of_body("x", body.to_string().as_bytes(), row.takes).unwrap();
            let asked = request(&given).unwrap_or_else(|told| panic!("{}: {told:?}", row.path));
            assert_eq!(asked.scope(), row.scope, "{} {asked:?}", row.path);
            assert_eq!(row.method == Verb::Get, !changes(&asked), "{}", row.path);
        }
    }

    /// Waiting changes nothing, and is asked for as the other verbs of a session are.
    fn changes(request: &Request) -> bool {
        request.scope() > Scope::Watch || matches!(request, Request::Wait { .. })
    }

    fn example(field: &Field) -> serde_json::Value {
        match field.kind {
            Kind::Text if field.name == "minutes" => "10".into(),
            Kind::Text | Kind::Path => "/x".into(),
            Kind::Texts => serde_json::json!(["x"]),
            Kind::Flag => true.into(),
            Kind::Number | Kind::UpTo(_) | Kind::Time | Kind::Dollars => 1.into(),
            Kind::Word(words) => (*words.first().unwrap()).into(),
            Kind::Words(words) => serde_json::json!([words.first().unwrap()]),
        }
    }
}
