//! A lexer for command lines that mean the same in every shell; whatever it does not know, it
//! refuses.
//!
//! The language: ASCII; words apart by spaces and tabs; `'…'`; `"…"` without `$`, backtick,
//! backslash and `!`; bare characters that no shell expands. It is proven against the installed
//! shells in `tests/shells.rs`, not by reading their manuals.

use crate::why::NotPlain;

/// A longer line is nothing that a person would have read to its end either.
pub const LINE_BYTES_MAX: usize = 8 * 1024;

/// Words that a shell takes for itself where a program's name is expected.
const RESERVED: &[&str] = &[
    "builtin",
    "case",
    "command",
    "coproc",
    "do",
    "done",
    "elif",
    "else",
    "end",
    "esac",
    "eval",
    "exec",
    "fi",
    "for",
    "foreach",
    "function",
    "if",
    "in",
    "let",
    "local",
    "nocorrect",
    "noglob",
    "repeat",
    "select",
    "source",
    "then",
    "time",
    "typeset",
    "until",
    "while",
];

/// The words that every shell makes of a line, the program's name first.
pub fn argv(line: &str) -> Result<Vec<String>, NotPlain> {
    if line.len() > LINE_BYTES_MAX {
        return Err(NotPlain::TooLong);
    }
    let mut rest = line.trim_matches(BLANKS);
    let mut words = Vec::new();
    while !rest.is_empty() {
        let word = if words.is_empty() { program(&mut rest)? } else { word(&mut rest)? };
        words.push(word);
        rest = rest.trim_start_matches(BLANKS);
    }
    if words.is_empty() { Err(NotPlain::Empty) } else { Ok(words) }
}

/// The commands of a line of plain ones that are joined by `|`, each as its words.
pub fn pipeline(line: &str) -> Result<Vec<Vec<String>>, NotPlain> {
    if line.len() > LINE_BYTES_MAX {
        return Err(NotPlain::TooLong);
    }
    // A quote that a shell would take for another one has a character before it that `argv` refuses.
    let mut quote = None;
    let parts = line.split(|character: char| {
        match quote {
            Some(open) if open == character => quote = None,
            None if character == '\'' || character == '"' => quote = Some(character),
            Some(_) | None => {}
        }
        quote.is_none() && character == '|'
    });
    let parts: Vec<&str> = parts.collect();
    let gap = parts.len() > 1 && parts.iter().any(|part| part.trim_matches(BLANKS).is_empty());
    if gap {
        return Err(NotPlain::Character('|'));
    }
    parts.into_iter().map(argv).collect()
}

const BLANKS: [char; 2] = [' ', '\t'];

/// The program's name: bare, and nothing that a shell may take for a path, an assignment, a job or a
/// word of its own.
fn program(rest: &mut &str) -> Result<String, NotPlain> {
    let (name, after) = split_at_blank(rest);
    let begins = name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    if let Some(odd) = name.chars().find(|c| !plain(*c)) {
        return Err(NotPlain::Character(odd));
    }
    if !begins || RESERVED.contains(&name) || name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NotPlain::Program(name.to_owned()));
    }
    *rest = after;
    Ok(name.to_owned())
}

fn split_at_blank(text: &str) -> (&str, &str) {
    text.find(BLANKS).and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""))
}

/// A word behind the program's name: bare and quoted parts, joined.
fn word(rest: &mut &str) -> Result<String, NotPlain> {
    let mut word = String::new();
    let mut characters = rest.char_indices();
    let mut quote = None;
    let mut end = rest.len();
    for (at, character) in characters.by_ref() {
        match quote {
            Some(open) if open == character => quote = None,
            Some(open) => word.push(quoted(open, character)?),
            None if BLANKS.contains(&character) => {
                end = at;
                break;
            }
            None if character == '\'' || character == '"' => quote = Some(character),
            // zsh puts the path of `ls` in the place of `=ls`, also behind empty quotes.
            None if character == '=' && word.is_empty() => return Err(NotPlain::Character('=')),
            None => word.push(bare(character)?),
        }
    }
    if quote.is_some() {
        return Err(NotPlain::OpenQuote);
    }
    *rest = rest.get(end..).unwrap_or_default();
    Ok(word)
}

/// A character that no shell expands, splits at or takes for an operator.
fn bare(character: char) -> Result<char, NotPlain> {
    let plain = character.is_ascii_alphanumeric() || "_./:@%+,=-".contains(character);
    if plain { Ok(character) } else { Err(NotPlain::Character(character)) }
}

/// A character that means itself between quotes of this kind.
fn quoted(quote: char, character: char) -> Result<char, NotPlain> {
    let printed = matches!(character, ' '..='~');
    let special = quote == '"' && "$`\\!".contains(character);
    if printed && !special { Ok(character) } else { Err(NotPlain::Character(character)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_they_look_like() {
        for (line, wanted) in [
            ("ls", &["ls"][..]),
            (" \tls  -la\tsrc ", &["ls", "-la", "src"]),
            ("grep 'a b' \"c d\" e'f'\"g\"h", &["grep", "a b", "c d", "efgh"]),
            ("cat ''", &["cat", ""]),
            ("cat a=b ''x", &["cat", "a=b", "x"]),
            ("find . -name '*.rs'", &["find", ".", "-name", "*.rs"]),
            ("grep '$HOME\\!`' x", &["grep", "$HOME\\!`", "x"]),
            ("g++ --version", &["g++", "--version"]),
        ] {
            assert_eq!(argv(line).unwrap(), wanted, "{line}");
        }
    }

    #[test]
    fn plain_commands_are_joined_by_a_single_bar() {
        let words = |line: &str| pipeline(line).map(|parts| parts.join(&"/".to_owned()).join(" "));
        for (line, wanted) in [
            ("ls", "ls"),
            ("cat a | head -n 5", "cat a / head -n 5"),
            ("cat a|head\t|wc", "cat a / head / wc"),
            ("grep 'a|b' x | wc", "grep a|b x / wc"),
            ("grep \"|\" x|grep '\"|\"'", "grep | x / grep \"|\""),
        ] {
            assert_eq!(words(line).as_deref(), Ok(wanted), "{line}");
        }
        for (line, odd) in [
            ("ls || id", '|'),
            ("ls |", '|'),
            ("| ls", '|'),
            ("ls | | id", '|'),
            ("ls |& id", '&'),
            ("ls | id > x", '>'),
            ("ls | (id)", '('),
            ("ls | a=b id", '='),
            ("ls \\| id", '\\'),
            ("ls $'|' | id", '$'),
            ("ls | #id", '#'),
            ("ls |\nid", '\n'),
        ] {
            assert_eq!(words(line), Err(NotPlain::Character(odd)), "{line}");
        }
        assert_eq!(words("ls '| id"), Err(NotPlain::OpenQuote));
        assert_eq!(words("ls | eval x"), Err(NotPlain::Program("eval".to_owned())));
        assert_eq!(words(&"a|".repeat(LINE_BYTES_MAX)), Err(NotPlain::TooLong));
    }

    #[test]
    fn what_a_shell_might_read_in_another_way_is_refused() {
        for (line, wanted) in [
            ("", NotPlain::Empty),
            (" \t", NotPlain::Empty),
            ("cat 'a", NotPlain::OpenQuote),
            ("cat \"a'", NotPlain::OpenQuote),
            ("cat =ls", NotPlain::Character('=')),
            ("cat ''=ls", NotPlain::Character('=')),
            ("cat \"$x\"", NotPlain::Character('$')),
            ("cat a;b", NotPlain::Character(';')),
            ("cat a\nb", NotPlain::Character('\n')),
            ("cat 'a\nb'", NotPlain::Character('\n')),
            ("cat \u{e9}", NotPlain::Character('\u{e9}')),
            ("./cat a", NotPlain::Character('/')),
            ("a=b", NotPlain::Character('=')),
            ("'ls'", NotPlain::Character('\'')),
            ("%1", NotPlain::Character('%')),
            (". x", NotPlain::Program(".".to_owned())),
            ("-x", NotPlain::Program("-x".to_owned())),
            ("12", NotPlain::Program("12".to_owned())),
            ("time ls", NotPlain::Program("time".to_owned())),
        ] {
            assert_eq!(argv(line).unwrap_err(), wanted, "{line:?}");
        }
        assert_eq!(argv(&"a ".repeat(LINE_BYTES_MAX)).unwrap_err(), NotPlain::TooLong);
    }
}
