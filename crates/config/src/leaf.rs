//! The keys of a text, each with the line on which it stands.

use crate::fault::{Fault, line_of};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key with a value. A table without any key is one as well.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// The names of its tables, then its own.
    pub(crate) path: Vec<String>,
    /// Where it stands, counted from 1.
    pub(crate) line: usize,
    /// Its value, as it is written.
    pub(crate) written: String,
    /// The remark behind it on the same line.
    pub(crate) remark: Option<String>,
}

/// All keys of a text, from its beginning to its end.
pub(crate) fn leaves(text: &str) -> Result<Vec<Leaf>, Vec<Fault>> {
    let (whole, faults) = DeTable::parse_recoverable(text);
    if !faults.is_empty() {
        let mut faults: Vec<Fault> = faults.iter().map(|fault| Fault::of(text, fault)).collect();
        faults.sort_by_key(|fault| fault.line);
        return Err(faults);
    }
    let mut found = Vec::new();
    gather(text, whole.get_ref(), &mut Vec::new(), &mut found);
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, leaf)| leaf).collect())
}

fn gather(text: &str, table: &DeTable<'_>, path: &mut Vec<String>, found: &mut Vec<(usize, Leaf)>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => gather(text, inner, path, found),
            _ => {
                found.push((key.span().start, leaf(text, key.span().start, path, value)));
            }
        }
        path.pop();
    }
}

fn leaf(text: &str, at: usize, path: &[String], value: &Spanned<DeValue<'_>>) -> Leaf {
    let written = text.get(value.span()).unwrap_or_default().to_owned();
    let behind =
        text.get(value.span().end..).unwrap_or_default().lines().next().unwrap_or_default();
    let remark = behind.trim_start().strip_prefix('#').map(|remark| remark.trim().to_owned());
    Leaf { path: path.to_vec(), line: line_of(text, at), written, remark }
}
