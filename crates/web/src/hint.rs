//! The next step that a failure names, for who speaks HTTP: in place of a command line the request that does the same.

use crate::given::Kind;
use crate::table::{ROOT, Row, Verb, rows};
use serde_json::{Map, json};

/// A hint with requests in it. What the API does not have is still to be typed.
pub(crate) fn in_http(hint: &str) -> String {
    let parts = hint.split('`').enumerate().map(|(at, part)| {
        let line = part.strip_prefix("glis ").filter(|_| at % 2 == 1);
        line.and_then(request).unwrap_or_else(|| part.to_owned())
    });
    parts.collect::<Vec<_>>().join("`")
}

/// What does the same as a command line, if the API has all of it. What has to be said and is not there has its name in
/// capitals.
fn request(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let verb = |row: &Row| row.verb.split(' ').collect::<Vec<_>>();
    let row =
        rows().filter(|row| words.starts_with(&verb(row))).max_by_key(|row| row.verb.len())?;
    let mut rest = words.into_iter().skip(verb(row).len());
    let mut path = format!("{ROOT}{}", row.path);
    if row.path.contains("{session}") {
        path = path.replace("{session}", rest.next()?);
    }
    let needed = || row.takes.iter().filter(|field| field.needed);
    // A folder is where a command line is typed.
    let mut places = needed().filter(|field| field.kind != Kind::Path);
    let mut body = Map::new();
    while let Some(word) = rest.next() {
        let Some(name) = word.strip_prefix("--") else {
            body.insert(places.next()?.name.to_owned(), json!(word));
            continue;
        };
        let field = row.takes.iter().find(|field| field.name == name.replace('-', "_"))?;
        let value = if field.kind == Kind::Flag { json!(true) } else { json!(rest.next()?) };
        body.insert(field.name.to_owned(), value);
    }
    for field in needed() {
        body.entry(field.name).or_insert_with(|| json!(field.name.to_ascii_uppercase()));
    }
    match row.method {
        Verb::Get => body.is_empty().then(|| format!("GET {path}")),
        Verb::Post if body.is_empty() => Some(format!("POST {path}")),
        Verb::Post => Some(format!("POST {path} {}", json!(body))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_becomes_the_request_that_does_the_same() {
        for (hint, wanted) in [
            ("`glis ls` lists them", "`GET /api/v1/sessions` lists them"),
            (
                "`glis pause blue --mode force` stops it now",
                r#"`POST /api/v1/sessions/blue/pause {"mode":"force"}` stops it now"#,
            ),
            ("run `glis resume blue`", "run `POST /api/v1/sessions/blue/resume`"),
            ("`glis resume --all`", "`POST /api/v1/resume`"),
            ("`glis send x TEXT`", r#"`POST /api/v1/sessions/x/send {"text":"TEXT"}`"#),
            (
                "`glis answer x allow`",
                r#"`POST /api/v1/sessions/x/answer {"answer":"allow","request":"REQUEST"}`"#,
            ),
            ("`glis rm x --stop`", r#"`POST /api/v1/sessions/x/rm {"stop":true}`"#),
            ("`glis timeout x off`", r#"`POST /api/v1/sessions/x/timeout {"minutes":"off"}`"#),
            ("`glis trash restore x`", "`POST /api/v1/trash/x/restore`"),
        ] {
            assert_eq!(in_http(hint), wanted);
        }
    }

    #[test]
    fn what_the_api_does_not_have_is_still_typed() {
        for hint in [
            "`glis attach blue`",
            "`glis log blue --last 5` shows it",
            "`glis new fix-login`",
            "glis ls",
            "try again in a moment",
            "give it a `name`",
        ] {
            assert_eq!(in_http(hint), hint);
        }
    }
}
