//! The description of the API for programs, made of the table.

use crate::given::Field;
use crate::table::{Act, Gives, ROOT, Row, Verb, rows};
use serde_json::{Map, Value, json};

pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for row in rows() {
        let path = paths.entry(format!("{ROOT}{}", row.path)).or_insert_with(|| json!({}));
        path[row.method.word()] = operation(row);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "glis",
            "version": "1",
            "description": "What changes something has the header `X-Glis: 1`. With an \
                `Idempotency-Key` a repeat within a day changes nothing and gets the first answer. \
                `Host` has to be the server's own, `Origin` absent or the server's own.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "`glis web token`"},
            },
            "schemas": {"Session": session(), "Error": error()},
        },
    })
}

fn operation(row: &Row) -> Value {
    let mut parameters = Vec::new();
    if row.path.contains("{session}") {
        parameters.push(json!({
            "name": "session", "in": "path", "required": true, "schema": {"type": "string"},
            "description": "Name, id, or a unique beginning of the id",
        }));
    }
    if row.method == Verb::Get {
        parameters.extend(row.takes.iter().map(query));
    }
    if row.method == Verb::Post && matches!(row.act, Act::Ask(_) | Act::Draft(_)) {
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "schema": {"type": "string", "maxLength": 128},
            "description": "Names this change",
        }));
    }
    let mut operation = json!({
        "summary": row.does,
        "x-glis-scope": row.scope.word(),
        "parameters": parameters,
        "responses": {
            "200": response(row.gives),
            "default": {
                "description": "What went wrong, as the command line says it",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    });
    if !row.verb.is_empty() {
        operation["x-glis-verb"] = json!(row.verb);
    }
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

fn response(gives: Gives) -> Value {
    let session = json!({"$ref": "#/components/schemas/Session"});
    let (description, kind, schema) = match gives {
        Gives::Session => ("The session afterwards", "application/json", session),
        Gives::Sessions => {
            ("Sessions", "application/json", json!({"type": "array", "items": session}))
        }
        Gives::Screen => (
            "As `--json` prints it, and its rows as a terminal has them: `runs` is an array of \
             `[[text, look?], …]`",
            "application/json",
            json!({"type": "object"}),
        ),
        Gives::Object => ("As `--json` prints it", "application/json", json!({"type": "object"})),
        Gives::Array => ("As `--json` prints it", "application/json", json!({"type": "array"})),
        Gives::Stream => ("Server-sent events", "text/event-stream", json!({"type": "string"})),
        Gives::Frames => ("Frames of a WebSocket", "application/json", json!({"type": "object"})),
    };
    json!({"description": description, "content": {kind: {"schema": schema}}})
}

/// The fields that are promised; there are more.
fn session() -> Value {
    let text = json!({"type": "string"});
    let maybe = json!({"type": ["string", "null"]});
    let flag = json!({"type": "boolean"});
    let number = json!({"type": "integer"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let objects = json!({"type": "array", "items": {"type": "object"}});
    let object = json!({"type": ["object", "null"]});
    let mut fields = Map::new();
    let kinds: [(&Value, &[&str]); 8] = [
        (&text, &["id", "name", "status", "agent", "mode", "repo_root", "created_at"]),
        (&text, &["last_active_at", "need"]),
        (
            &maybe,
            &[
                "agent_session_ref",
                "worktree",
                "branch",
                "paused_at",
                "pause_reason",
                "resumed_at",
                "resume_at",
                "conversation_summary",
                "last_action",
                "last_accessed_at",
                "compacted_at",
                "task",
                "plan",
            ],
        ),
        (&flag, &["resumable", "can_pause", "can_resume", "auto_yes", "is_compacted", "seen"]),
        (&number, &["idle_timeout_secs", "queued", "generation", "seconds_since_activity"]),
        (&texts, &["pending_tasks", "former_refs"]),
        (&objects, &["asks"]),
        (&object, &["snapshot", "waiting_for"]),
    ];
    for (schema, names) in kinds {
        fields.extend(names.iter().map(|name| ((*name).to_owned(), schema.clone())));
    }
    for name in ["pid", "memory_bytes"] {
        fields.insert(name.to_owned(), json!({"type": ["integer", "null"]}));
    }
    let required: Vec<_> = fields.keys().cloned().collect();
    json!({"type": "object", "properties": fields, "required": required})
}

fn error() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["kind", "message", "hint"],
            "properties": {
                "kind": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
            },
        }},
    })
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
