//! Reading the file: every fault of it, with its line.

use crate::fault::Fault;
use crate::leaf::{Leaf, leaves};
use crate::{Config, auto_yes, regular};
use serde::Deserialize as _;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Larger files are no configuration.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// The file itself cannot be had.
    NoFile(String),
    /// It holds faults: at least one, by line.
    Faulty(PathBuf, Vec<Fault>),
}

/// The first fault alone: whoever starts a daemon is told one line.
impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile(why) => f.write_str(why),
            Self::Faulty(path, faults) => {
                let first = faults.first().map_or((1, ""), |fault| (fault.line, &*fault.why));
                write!(f, "{}:{}: {}", path.display(), first.0, first.1)
            }
        }
    }
}

/// The text of the file; a missing one is an empty one.
pub fn text_of(path: &Path) -> Result<String, Unread> {
    let shown = path.display();
    let text = match regular::open(path).and_then(|file| regular::text(file, FILE_BYTES_MAX)) {
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(fault) => return Err(Unread::NoFile(format!("cannot read {shown}: {fault}"))),
        Ok(text) => text,
    };
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

impl Config {
    /// Reads the file; a missing one means that everything is as usual.
    pub fn read(path: &Path) -> Result<Self, Unread> {
        Self::read_with_text(path).map(|(config, _)| config)
    }

    /// The same, with the text that it was read from.
    pub fn read_with_text(path: &Path) -> Result<(Self, String), Unread> {
        let text = text_of(path)?;
        let config = Self::parse(&text);
        let config = config.map_err(|faults| Unread::Faulty(path.to_owned(), faults))?;
        Ok((config, text))
    }

    /// Reads a text, or tells everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Vec<Fault>> {
        let leaves = leaves(text)?;
        let whole: Table = text.parse().map_err(|fault| vec![Fault::of(text, &fault)])?;
        // Each key is tried alone, so that one fault does not hide the next.
        let faults: Vec<Fault> = leaves
            .iter()
            .filter(|leaf| leaf.path != auto_yes::RULES)
            .filter_map(|leaf| {
                let alone = alone(&whole, &leaf.path)?;
                let fault = Self::deserialize(alone).err()?;
                Some(Fault { line: leaf.line, ..Fault::of(text, &fault) })
            })
            .chain(auto_yes::faults(text))
            .collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let config = Self::deserialize(whole).map_err(|fault| vec![Fault::of(text, &fault)])?;
        let unfit: Vec<Fault> = config
            .unfit()
            .into_iter()
            .map(|(key, why)| Fault { line: line_of_key(&leaves, key), why })
            .collect();
        if unfit.is_empty() { Ok(config) } else { Err(unfit) }
    }
}

/// The line of a text at which a key is set, counted from 1.
pub fn line_of(text: &str, key: &str) -> usize {
    leaves(text).map_or(1, |leaves| line_of_key(&leaves, key))
}

fn line_of_key(leaves: &[Leaf], key: &str) -> usize {
    leaves.iter().find(|leaf| leaf.path.join(".") == key).map_or(1, |leaf| leaf.line)
}

/// A table with nothing but this key in it.
fn alone(whole: &Table, path: &[String]) -> Option<Table> {
    let (first, rest) = path.split_first()?;
    let value = whole.get(first)?;
    let value = match (rest.is_empty(), value) {
        (true, value) => value.clone(),
        (false, Value::Table(inner)) => Value::Table(alone(inner, rest)?),
        (false, _) => return None,
    };
    Some(Table::from_iter([(first.clone(), value)]))
}
