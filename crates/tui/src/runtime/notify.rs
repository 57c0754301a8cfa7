//! What is said to the user's terminal itself: a notice, and text for its clipboard.

/// The codes by which a terminal is told a notice, as the environment tells, which is handed in as a look-up: 9, 777, or
/// both where it is not known which of the two it understands. One that knows both tells it twice.
fn codes(variable: &impl Fn(&str) -> Option<String>) -> &'static [u16] {
    let is = |name: &str, known: &[&str]| {
        variable(name).is_some_and(|value| known.iter().any(|known| value.starts_with(known)))
    };
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    if is("TERM", &["rxvt", "foot"]) || set("VTE_VERSION") {
        return &[777];
    }
    let nine = is("TERM", &["xterm-kitty", "xterm-ghostty", "wezterm"])
        || is("TERM_PROGRAM", &["iTerm", "WezTerm", "ghostty"])
        || set("WT_SESSION");
    if nine { &[9] } else { &[9, 777] }
}

/// The bytes of a notice. Inside tmux it is wrapped, so that tmux hands it on where it is allowed to.
pub(super) fn notice(variable: impl Fn(&str) -> Option<String>, text: &str, ring: bool) -> Vec<u8> {
    // A semicolon would begin another field.
    let text: String = text.chars().filter(|c| !c.is_control() && *c != ';').collect();
    let notice: String = codes(&variable)
        .iter()
        .map(|code| match code {
            9 => format!("\x1b]9;glis: {text}\x1b\\"),
            code => format!("\x1b]{code};notify;glis;{text}\x1b\\"),
        })
        .collect();
    let within_tmux = variable("TMUX").is_some_and(|value| !value.is_empty());
    let wrapped = if within_tmux {
        format!("\x1bPtmux;{}\x1b\\", notice.replace('\x1b', "\x1b\x1b"))
    } else {
        notice
    };
    let bell = if ring { "\x07" } else { "" };
    format!("{wrapped}{bell}").into_bytes()
}

/// The bytes that hand a text to the clipboard of the user's terminal.
pub(super) fn clipboard(text: &str) -> Vec<u8> {
    format!("\x1b]52;c;{}\x07", base64(text.as_bytes())).into_bytes()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4_usize {
            let letter = LETTERS.get((bits >> (18 - 6 * at)) as usize & 63).copied();
            // Two letters tell one byte; what is missing of the three is told by `=`.
            text.push(if at <= three.len() { char::from(letter.unwrap_or(b'=')) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(set: &[(&str, &str)]) -> String {
        let look = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        String::from_utf8(notice(look, "blue waits;\x1b[2J", true)).unwrap()
    }

    #[test]
    fn each_terminal_is_told_in_its_own_way() {
        assert_eq!(told(&[("TERM", "xterm-kitty")]), "\x1b]9;glis: blue waits[2J\x1b\\\x07");
        assert_eq!(told(&[("TERM", "foot")]), "\x1b]777;notify;glis;blue waits[2J\x1b\\\x07");
        let unknown = told(&[("TERM", "xterm-256color")]);
        assert!(unknown.contains("]9;") && unknown.contains("]777;"), "{unknown:?}");
        let wrapped = told(&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/x,1,0")]);
        assert_eq!(wrapped, "\x1bPtmux;\x1b\x1b]9;glis: blue waits[2J\x1b\x1b\\\x1b\\\x07");
    }

    #[test]
    fn a_clipboard_is_told_in_letters() {
        for (text, letters) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("日本", "5pel5pys")]
        {
            assert_eq!(base64(text.as_bytes()), letters, "{text}");
        }
        assert_eq!(clipboard("foo"), b"\x1b]52;c;Zm9v\x07");
    }
}
