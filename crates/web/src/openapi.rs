//! The description of the API for programs, made of the table and of the types that are answered.

use crate::asks::LaidOut;
use crate::given::Field;
use crate::hosts::USUAL;
use crate::table::{Act, Gives, ROOT, Row, TABLE, Verb};
use crate::terminal::Frame;
use glis_verbs::Each;
use glis_verbs::complaint::Failure;
use glis_wire::view::WaitingFor;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// What may go wrong. Every fault is answered in the same form.
const FAULTS: [(&str, &str, &str); 7] = [
    ("400", "WrongUsage", "Wrong usage, or a body that is not JSON"),
    ("401", "NotKnown", "The token is not known, or not any more"),
    ("403", "NotAllowed", "The scope does not reach it, or the request comes from another page"),
    ("404", "NotFound", "There is no such session, task or repository"),
    ("409", "NotNow", "It cannot be done now"),
    ("503", "NotReached", "The daemon cannot be reached, or too much is asked for at once"),
    ("default", "Fault", "Whatever else goes wrong"),
];

pub(crate) fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let place = |s: &mut SchemaSettings| s.definitions_path = "/components/schemas".into();
    // What counts where something is missing is for who reads it: nothing of what is answered is.
    let whole = RecursiveTransform(|schema: &mut Schema| drop(schema.remove("default")));
    let mut types = settings.with(place).with_transform(whole).into_generator();
    let mut paths = Map::new();
    for (tag, rows) in TABLE {
        for row in rows {
            let path = paths.entry(format!("{ROOT}{}", row.path)).or_insert_with(|| json!({}));
            path[row.method.word()] = operation(row, tag, &mut types);
        }
    }
    let fault = json!({"application/json": {"schema": types.subschema_for::<Failure>()}});
    let faults =
        FAULTS.map(|(_, name, about)| (name, json!({"description": about, "content": fault})));
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "glis",
            "version": "1",
            "license": {"name": "MIT or Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            "description": "With an `Idempotency-Key` a repeat within a day changes nothing and gets the first \
                answer. `Host` has to be the server's own, `Origin` absent or the server's own.",
        },
        "servers": [{"url": format!("http://{USUAL}"), "description": "As `glis web` prints it"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "`glis web token`"},
            },
            "parameters": {
                "Session": {
                    "name": "session", "in": "path", "required": true, "schema": {"type": "string"},
                    "description": "Name, id, or a unique beginning of the id",
                },
                "Meant": {
                    "name": "X-Glis", "in": "header", "required": true,
                    "schema": {"type": "string", "const": "1"},
                    "description": "It is meant: no page of another site can say so",
                },
                "Key": {
                    "name": "Idempotency-Key", "in": "header", "required": false,
                    "schema": {"type": "string", "maxLength": 128},
                    "description": "Names this change",
                },
            },
            "responses": Map::from_iter(faults.map(|(name, fault)| (name.to_owned(), fault))),
            "schemas": schemas(types),
        },
    });
    // The types have the names that others know them by: a `SessionView` is a session.
    serde_json::from_str(&document.to_string().replace("View\"", "\"")).unwrap_or(document)
}

/// The types, with what is added to questions.
fn schemas(mut types: SchemaGenerator) -> Map<String, Value> {
    let (_, mut more) = (types.subschema_for::<WaitingFor>(), types.root_schema_for::<LaidOut>());
    let mut schemas = types.take_definitions(true);
    let ask = schemas.get_mut("WaitingFor").and_then(|ask| ask["properties"].as_object_mut());
    let more = more.get_mut("properties").and_then(Value::as_object_mut);
    if let (Some(ask), Some(more)) = (ask, more) {
        ask.append(more);
    }
    schemas
}

fn operation(row: &Row, tag: &str, types: &mut SchemaGenerator) -> Value {
    let common = |name| json!({"$ref": format!("#/components/parameters/{name}")});
    let mut parameters = Vec::new();
    if row.path.contains("{session}") {
        parameters.push(common("Session"));
    }
    match row.method {
        Verb::Get => parameters.extend(row.takes.iter().map(query)),
        Verb::Post => parameters.push(common("Meant")),
    }
    if row.method == Verb::Post && matches!(row.act, Act::Ask(_) | Act::Draft(_)) {
        parameters.push(common("Key"));
    }
    let words = row.verb.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let mut operation = json!({
        "operationId": words.join("_").to_ascii_lowercase(),
        "tags": [tag],
        "summary": row.does,
        "x-glis-scope": row.scope.word(),
        "parameters": parameters,
        "responses": responses(row, types),
    });
    if row.method == Verb::Post && !row.takes.is_empty() {
        operation["requestBody"] = json!({
            "required": row.takes.iter().any(|field| field.needed),
            "content": {"application/json": {"schema": body(row.takes)}},
        });
    }
    operation
}

fn query(field: &Field) -> Value {
    json!({
        "name": field.name, "in": "query", "required": field.needed,
        "schema": field.kind.schema(), "description": field.about,
    })
}

fn body(fields: &[Field]) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = field.kind.schema();
        schema["description"] = json!(field.about);
        properties.insert(field.name.to_owned(), schema);
    }
    let needed: Vec<_> = fields.iter().filter(|f| f.needed).map(|f| f.name).collect();
    json!({
        "type": "object", "properties": properties, "required": needed,
        "additionalProperties": false,
    })
}

fn responses(row: &Row, types: &mut SchemaGenerator) -> Value {
    let json = "application/json";
    let (status, description, kind, schema) = match row.gives {
        Gives::Json(schema) => ("200", "As `--json` prints it", json, schema(types)),
        Gives::Stream => {
            ("200", "Server-sent events", "text/event-stream", types.subschema_for::<String>())
        }
        Gives::Frames => ("101", "Frames of a WebSocket", json, types.subschema_for::<Frame<'_>>()),
    };
    let mut all = json!({});
    for (status, name, _) in FAULTS {
        all[status] = json!({"$ref": format!("#/components/responses/{name}")});
    }
    let several = types.subschema_for::<Vec<Each>>();
    if schema == several {
        let fault = types.subschema_for::<Failure>();
        all["409"] = json!({
            "description": "It cannot be done now, with some of them or with all",
            "content": {json: {"schema": {"anyOf": [several, fault]}}},
        });
    }
    all[status] = json!({"description": description, "content": {kind: {"schema": schema}}});
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_description_that_is_committed_is_the_tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
        let made = format!("{:#}\n", document());
        if std::env::var_os("GLIS_BLESS").is_some_and(|value| !value.is_empty()) {
            std::fs::write(&path, &made).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == made,
            "openapi.json is not what the table says; GLIS_BLESS=1 prints it anew"
        );
    }
}
