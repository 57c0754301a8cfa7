//! What the description of the API says of an answer: nothing else is answered, and nothing is left out.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../crates/web/openapi.json")).unwrap_or_default()
});

/// What the description does not say of the answer to a request with this first line. Whatever else it may say of a
/// path that it does not have, such an answer is a failure.
pub(crate) fn fault(line: &str, status: u16, body: &Value) -> Option<String> {
    let (method, path) = line.split_once(' ')?;
    let path = path.split('?').next().unwrap_or_default();
    let paths = DESCRIPTION["paths"].as_object()?;
    // A path without a name in it comes first.
    let found = paths.iter().filter(|(pattern, _)| fits(pattern, path));
    let found = found.min_by_key(|(pattern, _)| pattern.contains('{')).map(|(_, found)| found);
    let operation = found.map(|found| &found[method.to_ascii_lowercase()]);
    let Some(operation) = operation.filter(|operation| operation.is_object()) else {
        let failure = &DESCRIPTION["components"]["schemas"]["Failure"];
        return check(failure, body, &BTreeSet::new()).map(|why| format!("{line}: {status}{why}"));
    };
    let responses = &operation["responses"];
    let described = responses.get(status.to_string()).unwrap_or(&responses["default"]);
    let schema = &whole(described)["content"]["application/json"]["schema"];
    check(schema, body, &BTreeSet::new()).map(|why| format!("{line}: {status}{why}"))
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(wanted), Some(given)) if wanted == given || wanted.starts_with('{') => {}
            (Some(_) | None, _) => return false,
        }
    }
}

/// What stands where something refers to.
fn whole(part: &'static Value) -> &'static Value {
    let Some(place) = part["$ref"].as_str() else { return part };
    DESCRIPTION.pointer(place.trim_start_matches('#')).unwrap_or(&Value::Null)
}

/// Where a value is not as its schema says, and how. `known` are names that another part of the schema has.
fn check(schema: &'static Value, value: &Value, known: &BTreeSet<&str>) -> Option<String> {
    let schema = whole(schema);
    if *schema == Value::Null {
        return Some(" is not described".to_owned());
    }
    let told = || format!(" is {value:.200}");
    let one_of = |list: &Value| list.as_array().is_some_and(|all| all.contains(value));
    let is_wrong = schema.get("type").is_some_and(|kinds| !is_a(kinds, value))
        || schema.get("const").is_some_and(|only| only != value)
        || schema.get("enum").is_some_and(|words| !one_of(words));
    if is_wrong {
        return Some(told());
    }
    let mut names: BTreeSet<&str> = known.clone();
    names.extend(keys(&schema["properties"]));
    for list in ["anyOf", "oneOf"] {
        let Some(forms) = schema[list].as_array() else { continue };
        let faults: Vec<_> = forms.iter().map(|form| check(form, value, &names)).collect();
        if faults.iter().all(Option::is_some) {
            return Some(faults.into_iter().flatten().collect::<Vec<_>>().join(" and"));
        }
        names.extend(forms.iter().flat_map(|form| keys(&whole(form)["properties"])));
    }
    match value {
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            let own = schema["prefixItems"].get(at).or(schema.get("items"))?;
            check(own, item, &BTreeSet::new()).map(|why| format!("[{at}]{why}"))
        }),
        Value::Object(fields) => check_fields(schema, fields, &names),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn check_fields(
    schema: &'static Value,
    fields: &Map<String, Value>,
    names: &BTreeSet<&str>,
) -> Option<String> {
    let mut needed = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = needed.find(|name| !fields.contains_key(*name)) {
        return Some(format!(".{missing} is missing"));
    }
    let is_open = schema.get("additionalProperties") == Some(&Value::Bool(true));
    fields.iter().find_map(|(name, value)| match schema["properties"].get(name) {
        Some(own) => check(own, value, &BTreeSet::new()).map(|why| format!(".{name}{why}")),
        None if is_open || names.is_empty() || names.contains(name.as_str()) => None,
        None => Some(format!(".{name} is not described")),
    })
}

fn keys(properties: &Value) -> impl Iterator<Item = &str> {
    properties.as_object().into_iter().flatten().map(|(name, _)| name.as_str())
}

fn is_a(kinds: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    };
    kinds.as_array().map_or_else(|| is(kinds), |kinds| kinds.iter().any(is))
}
