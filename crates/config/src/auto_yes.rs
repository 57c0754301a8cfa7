//! What rules answer for a person: the section of the configuration, and what is wrong with it.

use crate::fault::{Fault, line_of};
use glis_approve::{BadRule, Barred, Edits, Judge, RejectAction, Rule, Set, Settings, is_too_wide};
use glis_core::plain::in_one_line;
use serde::{Deserialize as _, Serialize};
use std::time::Duration;
use toml::de::{DeArray, DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// What rules answer for a person, in sessions that have it switched on.
#[derive(Debug, Clone, serde::Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AutoYesConfig {
    pub enabled: bool,
    pub timeout_ms: u64,
    pub reject_action: RejectAction,
    pub edits: Edits,
    pub sets: Vec<Set>,
    pub accept_patterns: Vec<String>,
    pub reject_patterns: Vec<String>,
    pub rule: Vec<Rule>,
}

impl Default for AutoYesConfig {
    fn default() -> Self {
        let Settings { rules, sets, accept, reject, reject_action, edits } = Settings::default();
        Self {
            enabled: false,
            timeout_ms: 30_000,
            reject_action,
            edits,
            sets,
            accept_patterns: accept,
            reject_patterns: reject,
            rule: rules,
        }
    }
}

impl AutoYesConfig {
    /// How long the rules may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// What is wrong with values that are of the right kind, by the key.
    pub(crate) fn unfit(&self) -> Option<(&'static str, String)> {
        let folder = self.edits.odd_folder()?;
        let why = format!("edits: {folder:?} is no folder below the root of a worktree");
        Some(("auto_yes.edits", why))
    }

    /// What applies these rules. What was read without a fault always makes one.
    pub fn judge(&self) -> Result<Judge, String> {
        let settings = Settings {
            rules: self.rule.clone(),
            sets: self.sets.clone(),
            accept: self.accept_patterns.clone(),
            reject: self.reject_patterns.clone(),
            reject_action: self.reject_action,
            edits: self.edits.clone(),
        };
        Judge::new(settings).map_err(|bad| format!("{:?}: {}", bad.pattern, bad.why))
    }
}

/// The key that holds the rules, whose faults are told by [`faults`].
pub(crate) const RULES: [&str; 2] = ["auto_yes", "rule"];

/// What is wrong with patterns and rules, each by the line that it stands on.
pub(crate) fn faults(text: &str) -> Vec<Fault> {
    let Ok(whole) = DeTable::parse(text) else { return Vec::new() };
    let Some(section) = section(whole.get_ref()) else { return Vec::new() };
    let mut faults = Vec::new();
    for key in ["accept_patterns", "reject_patterns"] {
        for one in array(section.get(key)) {
            faults.extend(pattern(text, one));
        }
    }
    match section.get("rule") {
        Some(rules) if !matches!(rules.get_ref(), DeValue::Array(_)) => {
            let why = "rules are written as [[auto_yes.rule]]".to_owned();
            faults.push(Fault { line: line_of(text, rules.span().start), why });
        }
        rules => faults.extend(array(rules).iter().filter_map(|one| rule(text, one))),
    }
    faults
}

/// What is well written and not used all the same, each by its line: rules and patterns that would
/// answer what nobody has read. The rest of the file counts.
pub fn unused(text: &str) -> Vec<Fault> {
    let Ok(whole) = DeTable::parse(text) else { return Vec::new() };
    let Some(section) = section(whole.get_ref()) else { return Vec::new() };
    let wide = array(section.get("accept_patterns")).iter().filter_map(|one| {
        let pattern = one.get_ref().as_str().filter(|pattern| is_too_wide(pattern))?;
        let why =
            format!("{pattern:?} is not used: it fits anything; write what the question says");
        Some(Fault { line: line_of(text, one.span().start), why })
    });
    let barred = array(section.get("rule")).iter().filter_map(|one| barred(text, one));
    wide.chain(barred).collect()
}

fn section<'a, 'v>(whole: &'a DeTable<'v>) -> Option<&'a DeTable<'v>> {
    whole.get("auto_yes")?.get_ref().as_table()
}

fn barred(text: &str, one: &Spanned<DeValue<'_>>) -> Option<Fault> {
    let rule = Rule::deserialize(plain(one)).ok()?;
    let bar = glis_approve::barred(&rule)?;
    let DeValue::Table(keys) = one.get_ref() else { return None };
    let key = match bar {
        Barred::Runner { .. } => "program",
        Barred::AnyCommand { .. } | Barred::Command { .. } => "arguments",
        Barred::Flag { .. } => "flags",
    };
    let start = keys.get(key).map_or(one.span().start, |value| value.span().start);
    let why = format!("rule {:?} is not used: {}", rule.program, why_barred(&rule.program, &bar));
    Some(Fault { line: line_of(text, start), why })
}

fn why_barred(program: &str, bar: &Barred) -> String {
    match bar {
        Barred::Runner { kind } => format!(
            "it is {kind}, and runs whatever its words say; write a rule about the program that it is to run"
        ),
        Barred::AnyCommand { worst } => format!(
            "its first argument may be any word, `{program} {worst}` too; name the commands: arguments = [\"=test\"] or [{{ one_of = [\"test\", \"check\"] }}]"
        ),
        Barred::Command { command } => format!(
            "`{program} {command}` runs whatever its words say; write a rule about the program that it is to run"
        ),
        Barred::Flag { flag } => {
            format!("its flag {flag:?} names a program that it runs; write the rule without it")
        }
    }
}

fn array<'a, 'v>(value: Option<&'a Spanned<DeValue<'v>>>) -> &'a [Spanned<DeValue<'v>>] {
    let Some(DeValue::Array(found)) = value.map(Spanned::get_ref) else { return &[] };
    let found: &DeArray<'v> = found;
    found
}

fn pattern(text: &str, one: &Spanned<DeValue<'_>>) -> Option<Fault> {
    let pattern = one.get_ref().as_str()?.to_owned();
    let alone = Settings { accept: vec![pattern], reject: Vec::new(), ..Settings::default() };
    let bad = Judge::new(alone).err()?;
    let why = in_one_line(&bad.why);
    let why = format!("{:?} is no pattern: {why}", bad.pattern);
    Some(Fault { line: line_of(text, one.span().start), why })
}

/// The first thing that is wrong with a rule.
fn rule(text: &str, one: &Spanned<DeValue<'_>>) -> Option<Fault> {
    let at = |start: usize, why: String| Some(Fault { line: line_of(text, start), why });
    let DeValue::Table(keys) = one.get_ref() else {
        return at(one.span().start, "a rule is a table".to_owned());
    };
    let table = plain(one);
    // Each key is tried alone, to find the line of the one that is wrong.
    for (key, value) in keys {
        let mut alone = Table::from_iter([("program".to_owned(), Value::from("x"))]);
        alone.insert(key.get_ref().to_string(), table.get(key.get_ref().as_ref())?.clone());
        if let Err(fault) = Rule::deserialize(alone) {
            let start = key.span().start.min(value.span().start);
            return at(start, fault.message().to_owned());
        }
    }
    let rule = match Rule::deserialize(table) {
        Ok(rule) => rule,
        Err(fault) => return at(one.span().start, fault.message().to_owned()),
    };
    let bad = rule.check().err()?;
    let (key, wanted) = place_of(&bad);
    let holder = key.and_then(|key| keys.get(key));
    let element = array(holder).iter().find(|element| element.get_ref().as_str() == wanted);
    let start = element.or(holder).map_or(one.span().start, |value| value.span().start);
    at(start, format!("rule {:?}: {}", rule.program, said(&bad)))
}

/// A table as it would be read.
fn plain(one: &Spanned<DeValue<'_>>) -> Table {
    let value = Value::deserialize(toml::de::ValueDeserializer::from(one.clone()));
    value.ok().and_then(|value| value.as_table().cloned()).unwrap_or_default()
}

/// The key that a fault of a rule stands under, and what stands there.
fn place_of(bad: &BadRule) -> (Option<&'static str>, Option<&str>) {
    match bad {
        BadRule::Program(_) => (Some("program"), None),
        BadRule::Letter(_) => (Some("letters"), None),
        BadRule::Flag(flag) => (Some("flags"), Some(flag)),
        BadRule::Twice(_) => (Some("values"), None),
        BadRule::Choice(_) => (Some("arguments"), None),
        BadRule::NoExample => (None, None),
        BadRule::NotMatched(line) => (Some("match"), Some(line)),
        BadRule::Matched(line) => (Some("not_match"), Some(line)),
    }
}

fn said(bad: &BadRule) -> String {
    match bad {
        BadRule::Program(name) => format!("{name:?} is no plain name of a program"),
        BadRule::Letter(letter) => format!("{letter:?} cannot be a flag of one letter"),
        BadRule::Flag(flag) => format!("the flag {flag:?} does not begin with `-`"),
        BadRule::Twice(flag) => format!("{flag:?} is listed with a value and without one"),
        BadRule::Choice(word) if word.is_empty() => "a choice has no empty word".to_owned(),
        BadRule::Choice(word) => format!("{word:?} is a flag; list it in `flags`"),
        BadRule::NoExample => "it has no `match`: at least one line that it allows".to_owned(),
        BadRule::NotMatched(line) => format!("it does not allow {line:?}, which `match` lists"),
        BadRule::Matched(line) => format!("it allows {line:?}, which `not_match` lists"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    const GOOD: &str = "[auto_yes]\n\
        enabled = true\n\
        \n\
        [[auto_yes.rule]]\n\
        program = \"cargo\"\n\
        flags = [\"--quiet\"]\n\
        arguments = [{ one_of = [\"test\", \"check\"] }]\n\
        match = [\"cargo test\", \"cargo test --quiet\"]\n\
        not_match = [\"cargo publish\"]\n";

    fn told(text: &str) -> Vec<(usize, String)> {
        let faults = Config::parse(text).err().unwrap_or_default();
        faults.into_iter().map(|fault| (fault.line, fault.why)).collect()
    }

    #[test]
    fn a_rule_that_means_what_it_shows_is_read() {
        let config = Config::parse(GOOD).unwrap();
        assert!(config.auto_yes.enabled);
        assert_eq!(config.auto_yes.rule.len(), 1);
        assert!(config.auto_yes.judge().is_ok());
        let usual = Config::default().auto_yes;
        assert!(!usual.enabled && usual.rule.is_empty());
        assert_eq!(usual.timeout(), Duration::from_secs(30));
    }

    #[test]
    fn each_fault_is_told_by_its_line() {
        let changed = |from: &str, to: &str| told(&GOOD.replace(from, to));
        let at = |line: usize, why: &str| vec![(line, why.to_owned())];
        assert_eq!(
            changed("\"cargo test --quiet\"]", "\n\"cargo test --loud\"]"),
            at(9, "rule \"cargo\": it does not allow \"cargo test --loud\", which `match` lists")
        );
        assert_eq!(
            changed("cargo publish", "cargo check"),
            at(9, "rule \"cargo\": it allows \"cargo check\", which `not_match` lists")
        );
        assert_eq!(
            changed("\"--quiet\"]", "\"quiet\"]"),
            at(6, "rule \"cargo\": the flag \"quiet\" does not begin with `-`")
        );
        assert_eq!(
            changed("program = \"cargo\"", "program = \"./cargo\""),
            at(5, "rule \"./cargo\": \"./cargo\" is no plain name of a program")
        );
        let unknown = changed("flags =", "flag =");
        assert_eq!(unknown.len(), 1, "{unknown:?}");
        assert!(unknown[0].0 == 6 && unknown[0].1.contains("unknown field `flag`"), "{unknown:?}");
        let none = changed("match = [\"cargo test\", \"cargo test --quiet\"]\n", "");
        assert!(none.iter().any(|(_, why)| why.contains("it has no `match`")), "{none:?}");
        let pattern = told("[auto_yes]\nreject_patterns = [\n\"ok\",\n\"(\"]\n");
        assert!(pattern[0].0 == 4 && pattern[0].1.contains("is no pattern"), "{pattern:?}");
        assert_eq!(told("[auto_yes]\nenabeld = true\n")[0].0, 2);
        assert_eq!(
            told("[auto_yes]\nedits = [\"src\", \"..\"]\n"),
            at(2, "edits: \"..\" is no folder below the root of a worktree")
        );
        assert_eq!(
            told("[auto_yes]\nedits = \"src\"\n"),
            at(2, "expected true, false or a list of folders")
        );
        let kind = changed("[{ one_of = [\"test\", \"check\"] }]", "[\"tset\"]");
        assert_eq!(
            kind,
            at(
                7,
                "unknown kind \"tset\", expected \"path\", \"number\", \"word\", or \"=tset\" for that very word"
            )
        );
        assert_eq!(
            changed("\"check\"]", "\"-q\"]"),
            at(7, "rule \"cargo\": \"-q\" is a flag; list it in `flags`")
        );
        assert_eq!(
            told("[auto_yes]\nsets = [\"git\"]\n"),
            at(
                2,
                "unknown variant `git`, expected one of `git-read`, `cargo`, `npm`, `pytest`, `go`"
            )
        );
        assert_eq!(told("[auto_yes]\nrule = 3\n")[0].0, 2);
        let two = format!("{GOOD}\n[[auto_yes.rule]]\nprogram = \"make\"\n");
        assert_eq!(told(&two).iter().map(|(line, _)| *line).collect::<Vec<_>>(), [11]);
    }

    /// Such rules were right when they were written: the rest of the file counts as ever.
    #[test]
    fn what_would_answer_more_than_it_says_is_told_and_not_used() {
        let rule = |program: &str, more: &str| {
            let line = format!("{program} x");
            let text =
                format!("[[auto_yes.rule]]\nprogram = {program:?}\n{more}\nmatch = [{line:?}]\n");
            assert!(Config::parse(&text).is_ok(), "{text}");
            unused(&text).into_iter().map(|fault| (fault.line, fault.why)).collect::<Vec<_>>()
        };
        let any = "arguments = [\"word\"]";
        assert_eq!(
            rule("cargo", any),
            [(
                3,
                "rule \"cargo\" is not used: its first argument may be any word, `cargo publish` too; \
                 name the commands: arguments = [\"=test\"] or [{ one_of = [\"test\", \"check\"] }]"
                    .to_owned()
            )]
        );
        assert!(rule("bash", any)[0].1.contains("is not used: it is a shell, and runs whatever"));
        assert_eq!(rule("bash", any)[0].0, 2);
        let find = rule("find", "rest = \"path\"\nflags = [\"-exec\"]");
        assert!(find[0].0 == 4 && find[0].1.contains("names a program that it runs"), "{find:?}");
        assert_eq!(rule("sort", any), []);
        let wide = "[auto_yes]\naccept_patterns = [\"sure\",\n\"\",\n\".*\"]\n";
        assert!(Config::parse(wide).is_ok());
        assert_eq!(unused(wide).iter().map(|fault| fault.line).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(unused(GOOD), []);
    }
}
