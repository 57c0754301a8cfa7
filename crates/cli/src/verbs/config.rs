//! `config show`, `config path` and `config check`: the configuration file, without a daemon, since a
//! faulty file may be what keeps it from starting.

use super::Out;
use super::args::ConfigVerb;
use crate::control;
use glis_config::{Config, Fault, Setting, Unread};
use glis_verbs::keymap::{KeyFault, KeyMap, Keys};
use glis_verbs::{Complaint, Kind};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn config(verb: &ConfigVerb, out: &Out) -> Result<(), Complaint> {
    let path = control::find_home()?.config_file();
    match verb {
        ConfigVerb::Path => out.document(&json!({"path": path}), || path.display().to_string()),
        ConfigVerb::Show => show(&path, out),
        ConfigVerb::Check => check(&path, out),
    }
}

fn show(path: &Path, out: &Out) -> Result<(), Complaint> {
    let text = glis_config::text_of(path).map_err(|unread| faulty(&unread))?;
    let settings = glis_config::explain(&text)
        .map_err(|faults| faulty(&Unread::Faulty(path.to_owned(), faults)))?;
    let document: Vec<Value> = settings.iter().map(|setting| as_json(path, setting)).collect();
    out.document(&document, || as_toml(path, &settings))
}

fn check(path: &Path, out: &Out) -> Result<(), Complaint> {
    let shown = path.display();
    let text = glis_config::text_of(path).map_err(|unread| faulty(&unread))?;
    let mut faults = match Config::parse(&text) {
        Ok(config) => of_keys(&text, &config),
        Err(faults) => faults,
    };
    let hint = if faults.is_empty() { REST } else { STILL };
    faults.extend(glis_config::unused(&text));
    let notes = glis_config::outdated(&text);
    let as_json = |fault: &Fault| json!({"line": fault.line, "why": fault.why});
    let document = json!({
        "path": path,
        "exists": path.exists(),
        "faults": faults.iter().map(as_json).collect::<Vec<_>>(),
        "notes": notes.iter().map(as_json).collect::<Vec<_>>(),
    });
    out.document(&document, || {
        let told = |fault: &Fault| format!("{shown}:{}: {}", fault.line, fault.why);
        let fine = match (faults.is_empty(), path.exists()) {
            (true, true) => Some(format!("{shown} is fine")),
            (true, false) => Some(format!("{shown} does not exist: every key has its default")),
            (false, _) => None,
        };
        faults.iter().chain(&notes).map(told).chain(fine).collect::<Vec<_>>().join("\n")
    })?;
    if faults.is_empty() {
        return Ok(());
    }
    let number = match faults.len() {
        1 => "one fault".to_owned(),
        number => format!("{number} faults"),
    };
    let complaint = Complaint::new(Kind::Failed, format!("{shown} has {number}"));
    Err(Complaint { told: out.json, ..complaint.hint(hint) })
}

/// The keys of the overview that the user has chosen.
pub fn chosen_keys() -> Result<Keys, Complaint> {
    let path = control::find_home()?.config_file();
    let config = Config::read(&path).map_err(|unread| faulty(&unread))?;
    Ok(config.keys.by_place())
}

fn of_keys(text: &str, config: &Config) -> Vec<Fault> {
    let faults = KeyMap::with(&config.keys.by_place()).err().unwrap_or_default();
    let told =
        |fault: KeyFault| Fault { line: glis_config::line_of(text, &fault.key), why: fault.why };
    faults.into_iter().map(told).collect()
}

/// What holds meanwhile.
const STILL: &str = "fix the file; a running daemon keeps the last configuration without a fault";

/// The same where only rules are not used.
const REST: &str = "fix the file; the rest of it counts, and what these lines are about is asked";

fn faulty(unread: &Unread) -> Complaint {
    let complaint = Complaint::new(Kind::Failed, unread.to_string());
    match unread {
        Unread::NoFile(_) => complaint,
        Unread::Faulty(..) => complaint.hint("`glis config check` lists every fault of the file"),
    }
}

fn as_json(path: &Path, setting: &Setting) -> Value {
    let key = match setting.table.as_str() {
        "" => setting.key.clone(),
        table => format!("{table}.{}", setting.key),
    };
    let origin = if setting.line.is_some() { "file" } else { "default" };
    json!({
        "key": key,
        "value": setting.value,
        "default": setting.default,
        "origin": origin,
        "file": setting.line.map(|_| path),
        "line": setting.line,
        "about": setting.about,
    })
}

/// As a file that could be used as it is: what is not set is a remark.
fn as_toml(path: &Path, settings: &[Setting]) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let written = |setting: &Setting| match &setting.value {
        Some(value) => format!("{} = {value}", setting.key),
        None => format!("# {} is not set", setting.key),
    };
    let width = settings.iter().map(|setting| written(setting).chars().count()).max().unwrap_or(0);
    // One long list must not push every remark out of sight.
    let width = width.min(40);
    let mut text = format!("# {}", path.display());
    let mut table = "";
    for setting in settings {
        if setting.table != table {
            table = &setting.table;
            text.extend(["\n\n[", table, "]"]);
        }
        let origin = match (setting.line, &setting.value) {
            (Some(line), _) => format!("# {file}:{line}"),
            (None, Some(_)) => "# default".to_owned(),
            (None, None) => String::new(),
        };
        let line = format!("{:width$}  {origin}", written(setting));
        text.push('\n');
        text.push_str(line.trim_end());
    }
    text
}
