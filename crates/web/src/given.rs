//! What comes along with a request: options with names and kinds, checked against the table.

use glis_verbs::Complaint;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;

/// An option: of a query or of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) needed: bool,
    pub(crate) about: &'static str,
}

/// What an option can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// An absolute path: the server's own folder is nothing to a caller.
    Path,
    Texts,
    Flag,
    Number,
    /// A number that is at most this.
    UpTo(u64),
    /// Seconds, or a number with its unit: `90s`, `10m`, `2h`.
    Time,
    Dollars,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words.
    Words(&'static [&'static str]),
}

/// An option that can be left out.
pub(crate) const fn may(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, needed: false, about }
}

/// An option that has to be there.
pub(crate) const fn must(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, needed: true, about }
}

/// What was given: a name from the path, and options that were found right.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub(crate) name: String,
    options: Map<String, Value>,
}

impl Given {
    /// Takes a document that a body had.
    pub(crate) fn of_body(name: &str, body: &[u8], fields: &[Field]) -> Result<Self, Complaint> {
        let Pairs(pairs) = if body.is_empty() {
            Pairs::default()
        } else {
            serde_json::from_slice(body).map_err(|fault| {
                if fault.is_data() {
                    return usage("the body is not an object");
                }
                usage(&format!("the body is not JSON: {fault}"))
            })?
        };
        Self::checked(name, once(pairs)?, fields)
    }

    /// Takes the pairs of a query; each is what its option says it is.
    pub(crate) fn of_query(
        name: &str,
        pairs: Vec<(String, String)>,
        fields: &[Field],
    ) -> Result<Self, Complaint> {
        let read = |(key, text): (String, String)| {
            let kind = fields.iter().find(|field| field.name == key).map(|field| field.kind);
            let value = match kind {
                Some(Kind::Flag) => match text.as_str() {
                    "" | "1" | "true" => json!(true),
                    "0" | "false" => json!(false),
                    _ => json!(text),
                },
                Some(Kind::Number | Kind::UpTo(_)) => {
                    text.parse::<u64>().map_or(json!(text), |n| json!(n))
                }
                Some(Kind::Texts | Kind::Words(_)) => {
                    json!(text.split(',').collect::<Vec<_>>())
                }
                Some(Kind::Text | Kind::Path | Kind::Time | Kind::Dollars | Kind::Word(_))
                | None => json!(text),
            };
            (key, value)
        };
        Self::checked(name, once(pairs.into_iter().map(read))?, fields)
    }

    fn checked(
        name: &str,
        mut options: Map<String, Value>,
        fields: &[Field],
    ) -> Result<Self, Complaint> {
        options.retain(|_, value| !value.is_null());
        for (key, value) in &options {
            let known = fields.iter().find(|field| field.name == key);
            let Some(field) = known else {
                let names: Vec<_> = fields.iter().map(|field| field.name).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(usage(&format!("there is no option `{key}`; there are: {names}")));
            };
            if !field.kind.takes(value) {
                return Err(usage(&format!("`{key}` has to be {}", field.kind.words())));
            }
        }
        let missing = fields.iter().find(|field| field.needed && !options.contains_key(field.name));
        if let Some(field) = missing {
            return Err(usage(&format!("`{}` is missing: {}", field.name, field.about)));
        }
        Ok(Self { name: name.to_owned(), options })
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.options.get(name).and_then(Value::as_str).map(ToOwned::to_owned)
    }

    /// A text that has to be there.
    pub(crate) fn needed(&self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// This, with the options in it that have the names of its fields.
    pub(crate) fn over<T: Serialize + DeserializeOwned>(&self, usual: &T) -> Result<T, Complaint> {
        let mut whole = json!(usual);
        let options = self.options.iter();
        options.for_each(|(name, value)| whole[name.as_str()] = value.clone());
        serde_json::from_value(whole).map_err(|fault| usage(&fault.to_string()))
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let all = self.options.get(name).and_then(Value::as_array).map(Vec::as_slice);
        all.unwrap_or_default().iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.options.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.options.get(name).and_then(Value::as_u64)
    }

    /// In milliseconds.
    pub(crate) fn time_ms(&self, name: &str) -> Option<u64> {
        self.options.get(name).and_then(milliseconds)
    }

    /// An amount, in millionths of a dollar.
    pub(crate) fn micros(&self, name: &str) -> Option<u64> {
        self.options.get(name).and_then(micros)
    }

    /// A word, or words, as what they stand for.
    pub(crate) fn meant<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.options.get(name).and_then(|value| serde_json::from_value(value.clone()).ok())
    }
}

/// The members of an object as they stand there, also those that are there twice.
#[derive(Default)]
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        source.deserialize_map(Collect)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Pairs;

    fn expecting(&self, told: &mut fmt::Formatter<'_>) -> fmt::Result {
        told.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = members.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

/// Each option once: which of two is meant would be a guess.
fn once(pairs: impl IntoIterator<Item = (String, Value)>) -> Result<Map<String, Value>, Complaint> {
    let mut options = Map::new();
    for (key, value) in pairs {
        if options.insert(key.clone(), value).is_some() {
            return Err(usage(&format!("`{key}` is given twice")));
        }
    }
    Ok(options)
}

impl Kind {
    fn takes(self, value: &Value) -> bool {
        let is_word =
            |value: &Value, words: &[&str]| value.as_str().is_some_and(|w| words.contains(&w));
        match self {
            Self::Text => value.is_string(),
            Self::Path => value.as_str().is_some_and(|path| path.starts_with('/')),
            Self::Texts => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            Self::Flag => value.is_boolean(),
            Self::Number => value.is_u64(),
            Self::UpTo(most) => value.as_u64().is_some_and(|number| number <= most),
            Self::Time => milliseconds(value).is_some(),
            Self::Dollars => micros(value).is_some(),
            Self::Word(words) => is_word(value, words),
            Self::Words(words) => value
                .as_array()
                .is_some_and(|all| !all.is_empty() && all.iter().all(|one| is_word(one, words))),
        }
    }

    fn words(self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Path => "an absolute path".to_owned(),
            Self::Texts => "an array of texts".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Number => "a whole number".to_owned(),
            Self::UpTo(most) => format!("a whole number up to {most}"),
            Self::Time => "seconds, or a time such as \"10m\"".to_owned(),
            Self::Dollars => "an amount of dollars".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Words(words) => format!("an array of some of {}", words.join(", ")),
        }
    }

    /// The same for a program that reads `openapi.json`.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Path => json!({"type": "string", "pattern": "^/"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Number => json!({"type": "integer", "minimum": 0}),
            Self::UpTo(most) => json!({"type": "integer", "minimum": 0, "maximum": most}),
            Self::Time => {
                json!({"type": ["integer", "string"], "examples": ["90s", "10m", "2h", 90]})
            }
            Self::Dollars => json!({"type": "number", "exclusiveMinimum": 0}),
            Self::Word(words) => json!({"type": "string", "enum": words}),
            Self::Words(words) => {
                json!({"type": "array", "items": {"type": "string", "enum": words}})
            }
        }
    }
}

/// A wrong use of the API.
pub(crate) fn usage(message: &str) -> Complaint {
    Complaint::new(glis_verbs::Kind::Usage, message)
        .hint("GET /api/v1/openapi.json lists what there is")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the amount is positive and below a million dollars"
)]
fn micros(value: &Value) -> Option<u64> {
    let dollars = value.as_f64().filter(|dollars| *dollars > 0.0 && *dollars < 1e6)?;
    Some((dollars * 1e6).round() as u64)
}

fn milliseconds(value: &Value) -> Option<u64> {
    if let Some(seconds) = value.as_u64() {
        return seconds.checked_mul(1000);
    }
    let text = value.as_str()?;
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.strip_prefix(digits)? {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] = &[
        must("text", Kind::Text, "what is said"),
        may("loud", Kind::Flag, ""),
        may("many", Kind::Number, ""),
        may("for", Kind::Time, ""),
        may("mode", Kind::Word(&["a", "b"]), ""),
        may("folder", Kind::Path, ""),
        may("most", Kind::UpTo(9), ""),
    ];

    fn fault(body: &str) -> String {
        Given::of_body("x", body.as_bytes(), FIELDS).unwrap_err().message
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(fault("").contains("`text` is missing"));
        assert!(fault("[]").contains("not an object"));
        assert!(fault("{").contains("not JSON"));
        assert!(fault(r#"{"txt":"x"}"#).contains("no option `txt`"));
        assert!(fault(r#"{"text":1}"#).contains("has to be a text"));
        assert!(fault(r#"{"text":"x","mode":"c"}"#).contains("one of a, b"));
        assert!(fault(r#"{"text":"x","for":"2y"}"#).contains("a time such as"));
        assert!(fault(r#"{"text":"x","folder":"../y"}"#).contains("an absolute path"));
        assert!(fault(r#"{"text":"x","most":10}"#).contains("a whole number up to 9"));
    }

    #[test]
    fn what_is_right_is_found_in_a_body_and_in_a_query() {
        let body = br#"{"text":"hi","loud":true,"many":3,"for":"2m","mode":null}"#;
        let given = Given::of_body("x", body, FIELDS).unwrap();
        let pairs = [("text", "hi"), ("loud", ""), ("many", "3"), ("for", "2m")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        for given in [given, Given::of_query("x", pairs, FIELDS).unwrap()] {
            assert_eq!(given.text("text").unwrap(), "hi");
            assert!(given.flag("loud"));
            assert_eq!((given.number("many"), given.time_ms("for")), (Some(3), Some(120_000)));
            assert_eq!(given.meant::<String>("mode"), None);
        }
    }
}
