//! What a session asks, with everything that is to be seen before an answer: the lines of an edit, and what else was
//! said with it.

use glis_client::{Edit, edits_and_rest};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What is added to a question.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LaidOut {
    /// The lines of the edits that are asked for.
    edits: Vec<Edit>,
    /// What is in `input` and in none of those lines.
    rest: Map<String, Value>,
}

/// Adds `edits` and `rest` to every question of a session, or of several.
pub(crate) fn lay_out(document: &mut Value) {
    if let Some(several) = document.as_array_mut() {
        several.iter_mut().for_each(lay_out);
        return;
    }
    for list in ["asks", "was_asking"] {
        let asks = document.get_mut(list).and_then(Value::as_array_mut);
        for ask in asks.into_iter().flatten().filter_map(Value::as_object_mut) {
            let (edits, rest) = edits_and_rest(ask.get("input").unwrap_or(&Value::Null));
            if let Value::Object(laid_out) = json!(LaidOut { edits, rest }) {
                ask.extend(laid_out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_its_edits_and_what_was_said_beside_them() {
        let input =
            json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true});
        let asks = json!([{"request": "1", "input": input}, {"request": "2"}]);
        let mut sessions = json!([{"asks": asks, "was_asking": asks}, {"asks": []}]);
        lay_out(&mut sessions);
        for list in ["asks", "was_asking"] {
            let [edit, plain] = [&sessions[0][list][0], &sessions[0][list][1]];
            assert_eq!(edit["edits"], json!([{"path": "a", "lines": ["-x", "+y"]}]), "{list}");
            assert_eq!(edit["rest"], json!({"replace_all": true}), "{list}");
            assert_eq!((&plain["edits"], &plain["rest"]), (&json!([]), &json!({})), "{list}");
        }
    }
}
