//! A rule: one program, the flags that it may be given, the kinds of its arguments.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::argv::argv;
use crate::commanded::worst_command;
use crate::kind::Kind;
use crate::why::Why;

/// A rule as it is written in the configuration. No word that it does not name is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The program's name, as it is found on the agent's path.
    pub program: String,
    /// Flags of one letter, which may be joined: `-la`.
    #[serde(default)]
    pub letters: String,
    /// Flags as whole words, `--` among them.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Flags with a value behind them: as the next word, or in the same one if the flag's name ends
    /// with `=`. The flag `-` is a number alone: `-20`.
    #[serde(default)]
    pub values: BTreeMap<String, Kind>,
    /// The arguments that must be there, in order. Where the first is a choice, it is the first word of
    /// all: a flag before a program's command is one of the program, and means something else.
    #[serde(default)]
    pub arguments: Vec<Kind>,
    /// Any number of these may follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Kind>,
    /// Lines that it must allow; tried when it is read.
    #[serde(default)]
    pub r#match: Vec<String>,
    /// Lines that it must not allow.
    #[serde(default)]
    pub not_match: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadRule {
    /// The program's name is no plain word.
    Program(String),
    /// A letter that cannot be a flag.
    Letter(char),
    /// A flag that does not begin with `-`.
    Flag(String),
    /// A flag that is listed with a value and without one.
    Twice(String),
    /// A choice without words, or with one that is empty, or a flag where none can be asked for.
    Choice(String),
    /// There is no line that it must allow, so there is nothing that shows what it means.
    NoExample,
    /// A line that it must allow and does not.
    NotMatched(String),
    /// A line that it must not allow and does.
    Matched(String),
}

/// A line that a rule fits: the words that have to be paths in the worktree.
pub(crate) type Paths<'a> = Vec<&'a str>;

impl Rule {
    /// Whether the rule means anything, and what its examples say it means.
    pub fn check(&self) -> Result<(), BadRule> {
        self.check_words()?;
        if self.r#match.is_empty() {
            return Err(BadRule::NoExample);
        }
        for line in &self.r#match {
            if !self.allows_on_paper(line) {
                return Err(BadRule::NotMatched(line.clone()));
            }
        }
        for line in &self.not_match {
            if self.allows_on_paper(line) {
                return Err(BadRule::Matched(line.clone()));
            }
        }
        Ok(())
    }

    fn check_words(&self) -> Result<(), BadRule> {
        let plain = argv(&self.program).is_ok_and(|words| words == [self.program.as_str()]);
        if !plain {
            return Err(BadRule::Program(self.program.clone()));
        }
        if let Some(odd) = self.letters.chars().find(|letter| !letter.is_ascii_alphanumeric()) {
            return Err(BadRule::Letter(odd));
        }
        for flag in self.flags.iter().chain(self.values.keys()) {
            if !flag.starts_with('-') {
                return Err(BadRule::Flag(flag.clone()));
            }
        }
        // What a program with commands is to do stands first, and a flag says nothing about that.
        let named = usize::from(worst_command(&self.program).is_some());
        let (first, further) = self.arguments.split_at(named.min(self.arguments.len()));
        for kind in self.values.values().chain(first).chain(&self.rest) {
            check_choice(kind, |word| word.is_empty() || word.starts_with('-'))?;
        }
        for kind in further {
            check_choice(kind, str::is_empty)?;
        }
        let twice = |flag: &&String| self.flags.contains(flag) || self.is_letters(flag);
        match self.values.keys().find(twice) {
            Some(flag) => Err(BadRule::Twice(flag.clone())),
            None => Ok(()),
        }
    }

    /// The rule that allows these words of a command, in this order, and no others. None where a word leads
    /// out of the worktree: where that is differs, and the configuration counts for all of them.
    pub fn literal(words: &[String]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        let outside = |word: &String| {
            word.starts_with(['/', '~']) || word.split('/').any(|part| part == "..")
        };
        if rest.iter().any(outside) {
            return None;
        }
        let line: Option<Vec<String>> = words.iter().map(|word| in_quotes(word)).collect();
        Some(Self {
            program: program.clone(),
            letters: String::new(),
            flags: Vec::new(),
            values: BTreeMap::new(),
            arguments: rest.iter().map(|word| Kind::OneOf(vec![word.clone()])).collect(),
            rest: None,
            r#match: vec![line?.join(" ")],
            not_match: Vec::new(),
        })
    }

    /// Whether it allows a line as far as that can be told without a worktree.
    fn allows_on_paper(&self, line: &str) -> bool {
        let Ok(words) = argv(line) else { return false };
        let Some((program, words)) = words.split_first() else { return false };
        let paths = self.fit(words);
        let inside =
            |path: &&str| !path.starts_with('/') && path.split('/').all(|part| part != "..");
        *program == self.program && paths.is_ok_and(|paths| paths.iter().all(inside))
    }

    /// The paths among the words behind the program's name, or the first word that is not allowed;
    /// none if words are missing.
    pub(crate) fn fit<'a>(&self, words: &'a [String]) -> Result<Paths<'a>, Option<&'a str>> {
        let mut paths = Vec::new();
        let mut wanted = self.arguments.iter();
        if let Some(command) = self.arguments.first().filter(|kind| kind.choices().is_some()) {
            let first = words.first().map(String::as_str);
            take(command, first.ok_or(None)?, &mut paths)?;
        }
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let next = wanted.as_slice().first().and_then(Kind::choices).unwrap_or_default();
            let is_named = next.iter().any(|named| named == word);
            if is_named || !word.starts_with('-') || word == "-" {
                let kind = wanted.next().or(self.rest.as_ref()).ok_or(Some(word))?;
                take(kind, word, &mut paths)?;
            } else if let Some(kind) = self.values.get(word).filter(|_| !word.ends_with('=')) {
                take(kind, words.next().ok_or(None)?, &mut paths)?;
            } else if let Some((kind, value)) = self.joined(word) {
                take(kind, value, &mut paths).map_err(|_| Some(word))?;
            } else if !self.flags.iter().any(|flag| flag == word) && !self.is_letters(word) {
                return Err(Some(word));
            }
        }
        if wanted.next().is_some() { Err(None) } else { Ok(paths) }
    }

    /// The value in a word such as `--lines=5` or `-5`, if that form is listed.
    fn joined<'a>(&self, word: &'a str) -> Option<(&Kind, &'a str)> {
        let number = word.strip_prefix('-').filter(|number| Kind::Number.fits(number));
        if let (Some(number), Some(kind)) = (number, self.values.get("-")) {
            return Some((kind, number));
        }
        let at = word.find('=')?;
        let (flag, value) = word.split_at_checked(at + 1)?;
        self.values.get(flag).map(|kind| (kind, value))
    }

    fn is_letters(&self, word: &str) -> bool {
        let letters = word.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|letter| self.letters.contains(letter))
    }

    /// Why a line is not allowed by this rule.
    pub(crate) fn refusal(&self, word: Option<&str>) -> Why {
        Why::Word { program: self.program.clone(), word: word.map(str::to_owned) }
    }
}

fn check_choice(kind: &Kind, is_odd: impl Fn(&str) -> bool) -> Result<(), BadRule> {
    let Some(choices) = kind.choices() else { return Ok(()) };
    let odd = choices.iter().find(|word| is_odd(word));
    if odd.is_some() || choices.is_empty() {
        return Err(BadRule::Choice(odd.cloned().unwrap_or_default()));
    }
    Ok(())
}

/// A word as a plain line has it, if it can be written in one.
fn in_quotes(word: &str) -> Option<String> {
    let forms = [word.to_owned(), format!("'{word}'"), format!("\"{word}\"")];
    let means_it =
        |form: &String| argv(&format!("x {form}")).is_ok_and(|words| words == ["x", word]);
    forms.into_iter().find(means_it)
}

/// Takes a word for an argument of a kind, if it is one.
fn take<'a>(kind: &Kind, word: &'a str, paths: &mut Paths<'a>) -> Result<(), Option<&'a str>> {
    if !kind.fits(word) {
        return Err(Some(word));
    }
    if *kind == Kind::Path {
        paths.push(word);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> Rule {
        Rule {
            program: "head".to_owned(),
            letters: "qv".to_owned(),
            flags: vec!["--".to_owned(), "--quiet".to_owned()],
            values: [
                ("-n", Kind::Number),
                ("--lines=", Kind::Number),
                ("--from", Kind::Path),
                ("-", Kind::Number),
            ]
            .map(|(flag, kind)| (flag.to_owned(), kind))
            .into(),
            arguments: vec![Kind::Word],
            rest: Some(Kind::Path),
            r#match: vec!["head x".to_owned()],
            not_match: Vec::new(),
        }
    }

    fn fit(line: &str) -> Result<Vec<String>, Option<String>> {
        let words = argv(line).unwrap();
        match rule().fit(&words[1..]) {
            Ok(paths) => Ok(paths.into_iter().map(str::to_owned).collect()),
            Err(word) => Err(word.map(str::to_owned)),
        }
    }

    #[test]
    fn only_what_is_listed_fits() {
        let paths = |paths: &[&str]| Ok(paths.iter().map(|path| (*path).to_owned()).collect());
        let not = |word: &str| Err(Some(word.to_owned()));
        for (line, wanted) in [
            ("head w", paths(&[])),
            ("head w a b", paths(&["a", "b"])),
            ("head -qv -n 5 --lines=5 --quiet -- w a", paths(&["a"])),
            ("head --from c w a", paths(&["c", "a"])),
            ("head -20 w a", paths(&["a"])),
            ("head -20x w", not("-20x")),
            ("head --20 w", not("--20")),
            ("head", Err(None)),
            ("head w -n", Err(None)),
            ("head -n x w", not("x")),
            ("head -n5 w", not("-n5")),
            ("head --lines 5 w", not("--lines")),
            ("head --lines= w", not("--lines=")),
            ("head --lines=x w", not("--lines=x")),
            ("head --quie w", not("--quie")),
            ("head -qx w", not("-qx")),
            ("head -n= w", not("-n=")),
            ("head w ''", not("")),
            ("head w -", not("-")),
            ("head w @a", not("@a")),
            ("head -- -x", not("-x")),
            ("head --from -q w", not("-q")),
        ] {
            assert_eq!(fit(line), wanted, "{line}");
        }
        let none = Rule { rest: None, ..rule() };
        assert_eq!(none.fit(&["w".to_owned(), "a".to_owned()]), Err(Some("a")));
    }

    #[test]
    fn a_command_is_named_and_stands_first() {
        let choice =
            |words: &[&str]| Kind::OneOf(words.iter().map(|word| (*word).into()).collect());
        let rule = Rule {
            program: "cargo".to_owned(),
            letters: "q".to_owned(),
            arguments: vec![choice(&["test", "check"]), choice(&["all"])],
            rest: None,
            ..rule()
        };
        let fit = |line: &str| {
            let words = argv(line).unwrap();
            rule.fit(&words[1..]).map(drop).map_err(|word| word.map(str::to_owned))
        };
        let not = |word: &str| Err(Some(word.to_owned()));
        for (line, wanted) in [
            ("cargo test all", Ok(())),
            ("cargo check -q all", Ok(())),
            ("cargo publish all", not("publish")),
            ("cargo install evil", not("install")),
            ("cargo test", Err(None)),
            ("cargo", Err(None)),
            ("cargo test some", not("some")),
            ("cargo Test all", not("Test")),
            ("cargo tes all", not("tes")),
            ("cargo -q test all", not("-q")),
            ("cargo +nightly test all", not("+nightly")),
            ("cargo test all more", not("more")),
        ] {
            assert_eq!(fit(line), wanted, "{line}");
        }
    }

    #[test]
    fn a_flag_that_is_an_argument_must_be_there() {
        let literal = |line: &str| Rule::literal(&argv(line).unwrap());
        let rule = literal("black --check 'a b' -l 80 .").unwrap();
        assert_eq!(rule.check(), Ok(()));
        assert_eq!(rule.r#match, ["black --check 'a b' -l 80 ."]);
        let allows = |line: &str| rule.fit(&argv(line).unwrap()[1..]).is_ok();
        assert!(allows("black --check \"a b\" -l 80 ."));
        for line in [
            "black 'a b' -l 80 .",
            "black --check 'a b' -l 80",
            "black --check 'a b' 80 -l .",
            "black --check 'a b' -l 80 . .",
            "black --check --check 'a b' -l 80 .",
            "black --chec 'a b' -l 80 .",
            "black",
        ] {
            assert!(!allows(line), "{line}");
        }
        // Nothing is said for a flag in the place of a command, for a word that cannot be written, and for
        // one that leads elsewhere.
        assert_eq!(literal("cargo -q run").unwrap().check(), Err(BadRule::Choice("-q".to_owned())));
        assert_eq!(literal("cargo run -q").unwrap().check(), Ok(()));
        assert_eq!(literal("touch ''").unwrap().check(), Err(BadRule::Choice(String::new())));
        for line in ["touch /etc/x", "touch ../x", "touch a/../../x", "touch '~/x'"] {
            assert_eq!(literal(line), None, "{line}");
        }
        assert_eq!(Rule::literal(&["touch".to_owned(), "'\"$".to_owned()]), None);
        assert_eq!(Rule::literal(&[]), None);
    }

    #[test]
    fn a_rule_that_does_not_mean_what_it_shows_is_refused() {
        let text = |text: &str| text.to_owned();
        let check = |change: fn(&mut Rule)| {
            let mut rule = rule();
            change(&mut rule);
            rule.check()
        };
        assert_eq!(check(|_| ()), Ok(()));
        assert_eq!(check(|rule| rule.program = "a b".into()), Err(BadRule::Program(text("a b"))));
        assert_eq!(check(|rule| rule.program = "./a".into()), Err(BadRule::Program(text("./a"))));
        assert_eq!(check(|rule| rule.letters = "a-".into()), Err(BadRule::Letter('-')));
        assert_eq!(check(|rule| rule.flags.push("x".into())), Err(BadRule::Flag(text("x"))));
        assert_eq!(check(|rule| rule.letters.push('n')), Err(BadRule::Twice(text("-n"))));
        assert_eq!(check(|rule| rule.flags.push("-n".into())), Err(BadRule::Twice(text("-n"))));
        let choice = |word: &str| Kind::OneOf(vec![word.to_owned()]);
        for word in ["", "-x"] {
            let rule = Rule { rest: Some(choice(word)), ..rule() };
            assert_eq!(rule.check(), Err(BadRule::Choice(text(word))));
        }
        let empty = check(|rule| rule.arguments = vec![Kind::OneOf(Vec::new())]);
        assert_eq!(empty, Err(BadRule::Choice(text(""))));
        assert_eq!(check(|rule| rule.r#match.clear()), Err(BadRule::NoExample));
        for line in ["tail x", "head", "head 'x", "head w /etc/passwd", "head w a/../.."] {
            let mut rule = rule();
            rule.r#match.push(line.to_owned());
            assert_eq!(rule.check(), Err(BadRule::NotMatched(text(line))));
            rule.r#match.pop();
            rule.not_match.push(line.to_owned());
            assert_eq!(rule.check(), Ok(()), "{line}");
        }
        let allowed = check(|rule| rule.not_match.push("head w a".into()));
        assert_eq!(allowed, Err(BadRule::Matched(text("head w a"))));
    }
}
