//! What is refused, with the words of the real server.

use serde_json::Value;

/// A refusal: status and words.
pub(crate) type Refused = (u16, &'static str);

const TEXT_UNITS_MAX: usize = 4096;
const DATA_BYTES_MAX: usize = 64;

/// Whether a text may be sent with these entities.
pub(crate) fn text(text: &str, entities: &Value) -> Result<(), Refused> {
    let utf16: Vec<u16> = text.encode_utf16().collect();
    if text.trim().is_empty() {
        return Err((400, "Bad Request: message text is empty"));
    }
    if utf16.len() > TEXT_UNITS_MAX {
        return Err((400, "Bad Request: message is too long"));
    }
    for entity in entities.as_array().into_iter().flatten() {
        let number = |name: &str| entity.get(name).and_then(Value::as_u64);
        let (Some(offset), Some(length)) = (number("offset"), number("length")) else {
            return Err((400, "Bad Request: can't parse entities"));
        };
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let to = from.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        let Some(inner) = utf16.get(from..to).filter(|inner| !inner.is_empty()) else {
            return Err((400, "Bad Request: entity is out of bounds"));
        };
        if String::from_utf16(inner).is_err() {
            return Err((400, "Bad Request: entity begins in the middle of a character"));
        }
        let known = ["bold", "code", "pre"];
        if !entity.get("type").and_then(Value::as_str).is_some_and(|kind| known.contains(&kind)) {
            return Err((400, "Bad Request: unknown entity"));
        }
    }
    Ok(())
}

/// The buttons below a message.
pub(crate) fn buttons(markup: Option<&Value>) -> Result<Vec<(String, String)>, Refused> {
    let rows = markup.and_then(|markup| markup.get("inline_keyboard")).and_then(Value::as_array);
    let mut found = Vec::new();
    for button in rows.into_iter().flatten().filter_map(Value::as_array).flatten() {
        let text = |name: &str| button.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(label), Some(data)) = (text("text"), text("callback_data")) else {
            return Err((400, "Bad Request: can't parse inline keyboard button"));
        };
        if label.is_empty() || data.is_empty() || data.len() > DATA_BYTES_MAX {
            return Err((400, "Bad Request: BUTTON_DATA_INVALID"));
        }
        found.push((label, data));
    }
    Ok(found)
}
