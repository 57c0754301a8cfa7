//! A lexer for command lines that mean the same in every shell; whatever it does not know, it
//! refuses.
//!
//! The language: ASCII; words apart by spaces and tabs; `'…'`; `"…"` without `$`, backtick,
//! backslash and `!`; bare characters that no shell expands; `2>&1` or `2>/dev/null` at the end of a
//! command; `|` and `&&` between two. It is proven against the installed shells in
//! `tests/shells.rs`, not by reading their manuals.

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

/// What may end a command: its standard error goes where its output goes, or nowhere. Neither writes a
/// file.
const REDIRECTIONS: [&str; 2] = ["2>&1", "2>/dev/null"];

/// The words that every shell makes of a line, the program's name first.
pub fn argv(line: &str) -> Result<Vec<String>, NotPlain> {
    if line.len() > LINE_BYTES_MAX {
        return Err(NotPlain::TooLong);
    }
    let line = line.trim_matches(BLANKS);
    // A redirection is a word of its own. No quote is in it, so that none is opened or closed by its end.
    let redirected = REDIRECTIONS.iter().find_map(|end| line.strip_suffix(end));
    let mut rest = redirected.filter(|rest| rest.ends_with(BLANKS)).unwrap_or(line);
    let mut words = Vec::new();
    while !rest.is_empty() {
        let word = if words.is_empty() { program(&mut rest)? } else { word(&mut rest)? };
        words.push(word);
        rest = rest.trim_start_matches(BLANKS);
    }
    if words.is_empty() { Err(NotPlain::Empty) } else { Ok(words) }
}

/// How a command is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    /// There is none before it.
    First,
    /// `|`: it reads what that prints.
    Pipe,
    /// `&&`: it runs after that, in the same folder.
    And,
}

impl Joint {
    /// As it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::First => "",
            Self::Pipe => "|",
            Self::And => "&&",
        }
    }
}

/// A plain command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub joint: Joint,
    /// Its words, the program's name first.
    pub words: Vec<String>,
}

/// The plain commands of a line that are joined by `|` or `&&`.
pub fn commands(line: &str) -> Result<Vec<Command>, NotPlain> {
    if line.len() > LINE_BYTES_MAX {
        return Err(NotPlain::TooLong);
    }
    let (mut joint, mut rest) = (Joint::First, line);
    let mut all = Vec::new();
    loop {
        let (part, next) = first_part(rest);
        let beside = next.map_or(joint, |(next, _)| next).sign();
        let words = argv(part).map_err(|why| match (why, beside.chars().next()) {
            (NotPlain::Empty, Some(sign)) => NotPlain::Character(sign),
            (why, _) => why,
        })?;
        all.push(Command { joint, words });
        let Some(next) = next else { return Ok(all) };
        (joint, rest) = next;
    }
}

/// A line up to its first joint, and what is behind that.
fn first_part(line: &str) -> (&str, Option<(Joint, &str)>) {
    // A quote that a shell would take for another one has a character before it that `argv` refuses.
    let mut quote = None;
    for (at, character) in line.char_indices() {
        match quote {
            Some(open) if open == character => quote = None,
            Some(_) => {}
            None if character == '\'' || character == '"' => quote = Some(character),
            None => {
                let Some((part, rest)) = line.split_at_checked(at) else { continue };
                let joint = [Joint::Pipe, Joint::And].into_iter().find_map(|joint| {
                    rest.strip_prefix(joint.sign()).map(|behind| (joint, behind))
                });
                if joint.is_some() {
                    return (part, joint);
                }
            }
        }
    }
    (line, None)
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
    fn plain_commands_are_joined_by_a_single_bar_or_two_ampersands() {
        let words = |line: &str| {
            let told = |one: &Command| format!("{} {}", one.joint.sign(), one.words.join(" "));
            commands(line).map(|all| all.iter().map(told).collect::<Vec<_>>().join(" "))
        };
        for (line, wanted) in [
            ("ls", " ls"),
            ("cat a | head -n 5", " cat a | head -n 5"),
            ("cat a|head\t|wc", " cat a | head | wc"),
            ("grep 'a|b' x | wc", " grep a|b x | wc"),
            ("grep \"|\" x|grep '\"|\"'", " grep | x | grep \"|\""),
            ("ls && cat a|head", " ls && cat a | head"),
            ("ls&&ls", " ls && ls"),
            ("grep '&&' a && ls", " grep && a && ls"),
            ("ls 2>&1", " ls"),
            ("ls a 2>&1|wc", " ls a | wc"),
            ("ls 2>/dev/null && ls\t2>&1&&ls", " ls && ls && ls"),
            ("grep '2>&1' a", " grep 2>&1 a"),
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
            ("ls &&", '&'),
            ("&& ls", '&'),
            ("ls && && ls", '&'),
            ("ls &&& ls", '&'),
            ("ls & ls", '&'),
            ("ls &", '&'),
            ("ls | && ls", '&'),
            ("ls && | ls", '|'),
            ("2>&1", '>'),
            ("ls2>&1", '>'),
            ("ls a2>&1", '>'),
            ("ls 2>&1 a", '>'),
            ("ls 2>&1 2>&1", '>'),
            ("ls 2> &1", '>'),
            ("ls 2>&12", '>'),
            ("ls 2>&2", '>'),
            ("ls >&1", '>'),
            ("ls 1>&2", '>'),
            ("ls 2>>/dev/null", '>'),
            ("ls 2>/dev/nulls", '>'),
            ("ls 2>/dev/null/x", '>'),
            ("ls >/dev/null", '>'),
            ("ls &>/dev/null", '&'),
            ("ls 2>a", '>'),
        ] {
            assert_eq!(words(line), Err(NotPlain::Character(odd)), "{line}");
        }
        assert_eq!(words("ls '| id"), Err(NotPlain::OpenQuote));
        assert_eq!(words("ls 'a 2>&1"), Err(NotPlain::OpenQuote));
        assert_eq!(words("ls | eval x"), Err(NotPlain::Program("eval".to_owned())));
        assert_eq!(words("ls && eval x"), Err(NotPlain::Program("eval".to_owned())));
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
