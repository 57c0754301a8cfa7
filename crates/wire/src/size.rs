//! How large a call may be, and what is told of one that is larger.

use crate::frame::PAYLOAD_BYTES_MAX;
use crate::response::Response;
use glis_core::queue::{MESSAGE_BYTES_MAX, TooLong};

/// What to do with words that are too long.
pub const HINT: &str =
    "put them into a file: `glis send NAME TEXT --file FILE` copies that into the worktree";

/// What is told of a call with this JSON, if it is larger than it may be. Every text in it counts: a
/// prompt, a message, a reason, the tasks of a plan.
pub fn refuse(json: &[u8]) -> Option<Response> {
    let length = longest_text(json);
    if length > MESSAGE_BYTES_MAX {
        let (most, hint) = (MESSAGE_BYTES_MAX, HINT.to_owned());
        let message = format!("the message as JSON has {}", TooLong { length, most });
        return Some(Response::Unusable { message, hint });
    }
    (json.len() >= PAYLOAD_BYTES_MAX).then(|| refuse_whole(json.len()))
}

/// What is told of a call of this length, which nobody reads.
pub fn refuse_whole(length: usize) -> Response {
    let message = format!("the call has {}", TooLong { length, most: PAYLOAD_BYTES_MAX });
    Response::Unusable { message, hint: "ask for less at once".to_owned() }
}

/// The length of the longest text in a JSON document, as it is written there.
fn longest_text(json: &[u8]) -> usize {
    let (mut longest, mut length, mut escaped) = (0, None, false);
    for byte in json {
        length = match (length, byte) {
            (None, b'"') => Some(0),
            (None, _) => None,
            (Some(length), b'"') if !escaped => {
                longest = longest.max(length);
                None
            }
            (Some(length), byte) => {
                escaped = !escaped && *byte == b'\\';
                Some(length + 1)
            }
        };
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_longest_text_is_found_and_counted_as_it_is_written() {
        let document = json!({"a": ["x\"\\", "\n\u{1}"], "longer": 1, "b": "\\"});
        assert_eq!(longest_text(document.to_string().as_bytes()), r"\n\u0001".len());
        assert_eq!(longest_text(b"{}"), 0);
        for text in ["a\"b\\", "\n\t\r\u{8}\u{c}", "\u{1}\u{1f}\u{7f}\u{e9}"] {
            let written = json!(text).to_string();
            assert_eq!(longest_text(written.as_bytes()), written.len() - 2, "{written}");
        }
    }

    #[test]
    fn a_call_is_refused_from_the_first_byte_on_that_is_too_much() {
        let told = |json: &str| refuse(json.as_bytes()).map(|told| format!("{told:?}"));
        let text = |length: usize| json!({"text": "a".repeat(length)}).to_string();
        assert_eq!(told(&text(MESSAGE_BYTES_MAX)), None);
        let message = told(&text(MESSAGE_BYTES_MAX + 1)).unwrap();
        assert!(
            message.contains("the message as JSON has 1.1 MB, and 1 MB is the most"),
            "{message}"
        );
        let many = json!(vec!["a".repeat(1000); 9000]).to_string();
        let call = told(&many).unwrap();
        assert!(call.contains("the call has 8.7 MB, and 8 MB is the most"), "{call}");
    }
}
