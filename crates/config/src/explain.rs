//! Every key with its value, and where the value comes from.

use crate::Config;
use crate::fault::Fault;
use crate::leaf::{Leaf, leaves};
use toml::{Table, Value};

/// A configuration with every key in it, and a remark on each. docs/configuration.md shows it; where
/// a key has a default, this is it.
pub const DOCUMENTED: &str = include_str!("documented.toml");

/// Tables whose next name is the user's own choice.
const BY_NAME: [&[&str]; 3] = [&["persona"], &["repository"], &["chat", "telegram", "repos"]];

/// Tables that were called something else once: what they were called, and what they are.
const FORMER: [(&str, &str); 2] = [("limit", "usage_limit"), ("limits", "concurrency")];

/// Tables under a former name, each by its line.
pub fn outdated(text: &str) -> Vec<Fault> {
    let leaves = leaves(text).unwrap_or_default();
    let renamed = FORMER.iter().filter_map(|(former, name)| {
        let leaf =
            leaves.iter().find(|leaf| leaf.path.first().is_some_and(|table| table == former))?;
        let why = format!("`[{former}]` is called `[{name}]` now; the former name is still read");
        Some(Fault { line: leaf.line, why })
    });
    renamed.collect()
}

/// A key as it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The table that it stands in, as it is written; empty before the first.
    pub table: String,
    pub key: String,
    /// What counts; `None` where nothing is set and nothing is usual.
    pub value: Option<Value>,
    /// What counts where the file says nothing.
    pub default: Option<Value>,
    /// The line of the file that sets it.
    pub line: Option<usize>,
    pub about: Option<String>,
}

/// All settings of a text: those that everybody has first, then those that are by name.
pub fn explain(text: &str) -> Result<Vec<Setting>, Vec<Fault>> {
    Config::parse(text)?;
    let mut set = leaves(text)?;
    let mut values: Table = text.parse().unwrap_or_default();
    for (former, name) in FORMER {
        values.remove(former).and_then(|table| values.insert(name.to_owned(), table));
        let tables = set.iter_mut().filter_map(|leaf| leaf.path.first_mut());
        tables.filter(|table| *table == former).for_each(|table| name.clone_into(table));
    }
    let usual = Table::try_from(Config::default()).unwrap_or_default();
    let known = leaves(DOCUMENTED)?;
    let of_all = known.iter().filter(|leaf| !by_name(leaf)).map(|leaf| {
        let mine = set.iter().find(|own| own.path == leaf.path);
        let default = at(&usual, &leaf.path).cloned();
        let value = mine.and_then(|own| at(&values, &own.path)).cloned();
        Setting {
            value: value.or_else(|| default.clone()),
            default,
            line: mine.map(|own| own.line),
            about: leaf.remark.clone(),
            ..named(leaf)
        }
    });
    let own = set.iter().filter(|leaf| by_name(leaf)).map(|leaf| Setting {
        value: at(&values, &leaf.path).cloned(),
        line: Some(leaf.line),
        ..named(leaf)
    });
    Ok(of_all.chain(own).collect())
}

fn by_name(leaf: &Leaf) -> bool {
    BY_NAME.iter().any(|table| {
        let begins = leaf.path.iter().zip(*table).all(|(name, known)| name == known);
        begins && leaf.path.len() > table.len()
    })
}

fn named(leaf: &Leaf) -> Setting {
    let (key, tables) = leaf.path.split_last().map_or(("", &[][..]), |(key, of)| (key, of));
    let table = tables.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(".");
    let key = quoted(key);
    Setting { table, key, value: None, default: None, line: None, about: None }
}

/// A name as a key is written: in quotation marks where it needs them.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(plain) {
        name.to_owned()
    } else {
        Value::String(name.to_owned()).to_string()
    }
}

fn at<'t>(table: &'t Table, path: &[String]) -> Option<&'t Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(first)?;
    match rest {
        [] => Some(value),
        rest => at(value.as_table()?, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn paths(text: &str) -> BTreeSet<String> {
        leaves(text).unwrap().iter().map(|leaf| leaf.path.join(".")).collect()
    }

    /// The keys that a table takes, by what it says about one that it does not take.
    fn keys_of(table: &str) -> Vec<String> {
        let header = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
        let faults = Config::parse(&format!("{header}no_such_key = 1\n")).unwrap_err();
        let why = &faults.first().unwrap().why;
        let known = why.split_once("expected").unwrap_or_else(|| panic!("{why}")).1;
        known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn every_key_is_documented() {
        let documented = paths(DOCUMENTED);
        let former = |name: &String| FORMER.iter().any(|(former, _)| former == name);
        for first in keys_of("").into_iter().filter(|name| !former(name)) {
            let inner = match &*first {
                "default_agent" => vec![first.clone()],
                "persona" => keys_of("persona.critic"),
                "repository" => keys_of("repository.app"),
                "chat" => {
                    let keys = keys_of("chat.telegram").into_iter();
                    keys.filter(|key| key != "repos").chain(["repos.web".to_owned()]).collect()
                }
                table => keys_of(table),
            };
            for key in inner {
                let stands = documented.iter().any(|path| {
                    *path == key || path.starts_with(&*first) && path.ends_with(&format!(".{key}"))
                });
                assert!(stands, "{first}: {key} is not in documented.toml");
            }
        }
    }

    #[test]
    fn what_is_documented_is_what_holds_without_a_file() {
        let usual = Table::try_from(Config::default()).unwrap();
        let documented: Table = DOCUMENTED.parse().unwrap();
        for leaf in leaves(DOCUMENTED).unwrap().iter().filter(|leaf| !by_name(leaf)) {
            let Some(default) = at(&usual, &leaf.path) else { continue };
            if default.as_array().is_some_and(Vec::is_empty) {
                continue;
            }
            assert_eq!(Some(default), at(&documented, &leaf.path), "{:?}", leaf.path);
        }
    }

    #[test]
    fn a_documented_key_has_a_remark() {
        for leaf in leaves(DOCUMENTED).unwrap().iter().filter(|leaf| !by_name(leaf)) {
            assert!(leaf.remark.is_some(), "{:?}", leaf.path);
        }
    }

    #[test]
    fn its_page_shows_it_whole() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        let page = std::fs::read_to_string(page).unwrap();
        let stands = page.contains(&format!("```toml\n{DOCUMENTED}```\n"));
        assert!(stands, "copy crates/config/src/documented.toml into docs/configuration.md");
    }

    #[test]
    fn a_setting_tells_where_it_comes_from() {
        let text = "[trash]\ndays = 3\n\n[persona.\"a b\"]\nmodel = \"opus\"\n";
        let settings = explain(text).unwrap();
        let of = |key: &str| settings.iter().find(|setting| setting.key == key).unwrap();
        let days = of("days");
        assert_eq!((days.line, &*days.table), (Some(2), "trash"));
        assert_eq!(
            (days.value.as_ref(), days.default.as_ref()),
            (Some(&Value::Integer(3)), Some(&Value::Integer(30)))
        );
        let agent = of("default_agent");
        assert_eq!((agent.line, agent.value.as_ref(), &*agent.table), (None, None, ""));
        let model = of("model");
        assert_eq!((model.line, &*model.table), (Some(5), "persona.\"a b\""));
        assert!(explain("[trash]\nday = 3\n").is_err());
    }

    #[test]
    fn a_former_name_is_read_and_named() {
        let text = "[limits]\nlive = 3\n\n[limit]\nresume = true\n";
        let config = Config::parse(text).unwrap();
        assert!(config.usage_limit.resume && config.concurrency.live == 3);
        let named: Vec<_> = outdated(text).into_iter().map(|told| (told.line, told.why)).collect();
        assert!(named[0].0 == 5 && named[0].1.contains("`[usage_limit]`"), "{named:?}");
        assert!(named[1].0 == 2 && named[1].1.contains("`[concurrency]`"), "{named:?}");
        let live =
            explain(text).unwrap().into_iter().find(|setting| setting.key == "live").unwrap();
        assert_eq!((&*live.table, live.line), ("concurrency", Some(2)));
        assert!(outdated(DOCUMENTED).is_empty());
        assert!(Config::parse("[limit]\nresume = true\n[usage_limit]\nresume = true\n").is_err());
    }
}
