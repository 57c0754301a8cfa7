//! `OpenCode`: by the Agent Client Protocol on its pipes. It chooses its own id and keeps its
//! conversations in a database.

mod acp;
mod written;

use crate::agent::{Agent, Versions};
use crate::dialect::Dialect;
use crate::hearing::json_line;
use crate::launch::{Approach, LaunchPlan, Places};
use crate::reserved::{Letters, Reserved};
use crate::storage::{Database, FileLocation, Rows};
use glis_core::session::Session;
use glis_core::spec::{Mode, RefOrigin, SignSource, Takes, Traits};
use serde_json::{Map, Value, json};

/// Options and words that would give the process another conversation, place or way to speak.
const OURS: Reserved = Reserved {
    long: &["session", "fork", "cwd", "prompt"],
    short: &['s'],
    words: &["acp", "run", "serve", "attach"],
    letters: Letters::Options,
};

/// Permission modes that stand for one answer to everything; any other names an agent of its own.
const ANSWERS: [&str; 3] = ["ask", "allow", "deny"];

pub(crate) struct OpenCode;

impl Agent for OpenCode {
    fn traits(&self, _mode: Mode, _argv: &[String]) -> Traits {
        Traits { refs: RefOrigin::Learned, signs: SignSource::Structured, takes: Takes::WhenIdle }
    }

    fn usual_mode(&self) -> Mode {
        Mode::Headless
    }

    fn check(&self, mode: Mode, argv: &[String]) -> Result<(), String> {
        if mode == Mode::Terminal {
            return Err("opencode runs with --headless only".to_owned());
        }
        OURS.check(argv)
    }

    fn tells_cost(&self, mode: Mode) -> bool {
        mode == Mode::Headless
    }

    fn launch(&self, session: &Session, how: Approach, _places: &Places) -> LaunchPlan {
        let mut argv = vec!["opencode".to_owned(), "acp".to_owned()];
        argv.extend(session.spec.argv.iter().cloned());
        let words = [acp::greeting(), acp::conversation(session, how, &wanted(session))];
        let first_words = words.iter().flat_map(json_line).collect();
        let mut env = Vec::new();
        let settings = settings(session);
        if !settings.is_empty() {
            // Counts above the user's files, and touches none of them.
            let settings = Value::Object(settings).to_string();
            env.push(("OPENCODE_CONFIG_CONTENT".to_owned(), settings));
        }
        let first_words = String::from_utf8(first_words).unwrap_or_default();
        // It opens a port for itself, and other users of this machine must not get in there.
        let secrets = vec!["OPENCODE_SERVER_PASSWORD"];
        LaunchPlan { argv, env, secrets, first_words, ..LaunchPlan::default() }
    }

    /// A database that the user has named, or the folder of its data, with a `/` at its end. A path
    /// that is not absolute depends on the process, and a database in memory has no file.
    fn home(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let data = set("XDG_DATA_HOME").or_else(|| Some(format!("{}/.local/share", set("HOME")?)));
        let home = match set("OPENCODE_DB") {
            Some(named) if named == ":memory:" || named.starts_with('/') => named,
            Some(named) => format!("{}/opencode/{named}", data?),
            None => format!("{}/opencode/", data?),
        };
        home.starts_with('/').then_some(home)
    }

    fn transcript(&self, _agent_ref: &str, _places: &Places) -> Option<FileLocation> {
        None
    }

    fn rows(&self, agent_ref: &str, places: &Places) -> Option<Rows> {
        let home = places.home.as_str();
        let database = match home.strip_suffix('/') {
            // Built for another channel than the usual one, it has that in the name.
            Some(folder) => {
                let (beginning, ending) = ("opencode", ".db");
                Database::Among { folder: folder.to_owned(), beginning, ending }
            }
            None if home.is_empty() => return None,
            None => Database::At(home.to_owned()),
        };
        Some(Rows {
            database,
            id: agent_ref.to_owned(),
            state: include_str!("opencode/state.sql"),
            text: include_str!("opencode/text.sql"),
            ending: include_str!("opencode/ending.sql"),
            take_back: &["import"],
        })
    }

    fn natives(&self, program: &str) -> Vec<String> {
        // The package's own program is a copy of the native one, unless its installation was not
        // allowed to run scripts: then it is a launcher.
        let Some((modules, _)) = program.rsplit_once("/opencode-ai/bin/") else {
            return Vec::new();
        };
        let platforms = ["linux-x64", "linux-arm64", "linux-x64-baseline", "linux-x64-musl"];
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let fits = platforms.iter().filter(|platform| platform.contains(machine));
        fits.map(|platform| format!("{modules}/opencode-{platform}/bin/opencode")).collect()
    }

    fn packages(&self) -> &'static [&'static str] {
        &["opencode-ai", "opencode-linux"]
    }

    fn versions(&self) -> Option<Versions> {
        Some(Versions { oldest: (1, 18, 0), tried: (1, 18, 33), bad: &[] })
    }

    fn dialect(&self, _mode: Mode) -> Box<dyn Dialect> {
        Box::new(acp::Acp::default())
    }
}

/// What it has to offer for this session, by its own names for that.
fn wanted(session: &Session) -> Map<String, Value> {
    let settings = settings(session);
    let options = [("model", "model"), ("default_agent", "mode")];
    let found = options.iter().filter_map(|(key, option)| Some((*option, settings.get(*key)?)));
    found.map(|(option, value)| (option.to_owned(), value.clone())).collect()
}

/// Settings of this session alone.
fn settings(session: &Session) -> Map<String, Value> {
    let spec = &session.spec;
    let mut settings = Map::new();
    if let Some(model) = &spec.model {
        settings.insert("model".to_owned(), json!(model));
    }
    match spec.permission_mode.as_deref() {
        Some(answer) if ANSWERS.contains(&answer) => {
            settings.insert("permission".to_owned(), json!(answer));
        }
        Some(agent) => {
            settings.insert("default_agent".to_owned(), json!(agent));
        }
        None => {}
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_a_launcher_lies_the_program() {
        let natives = OpenCode.natives("/x/node_modules/opencode-ai/bin/opencode.exe");
        assert!(natives.iter().all(|path| path.starts_with("/x/node_modules/opencode-linux-")));
        assert!(!natives.is_empty());
        assert!(OpenCode.natives("/usr/bin/opencode").is_empty());
    }

    #[test]
    fn its_database_is_where_its_variables_say() {
        let found = |set: &[(&str, &str)]| {
            let of = |name: &str| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            let home = OpenCode.home(&of)?;
            Some(OpenCode.rows("ses_1", &Places { home, ..Places::default() })?.database)
        };
        let among = |folder: &str| {
            let (beginning, ending) = ("opencode", ".db");
            Some(Database::Among { folder: folder.to_owned(), beginning, ending })
        };
        let at = |path: &str| Some(Database::At(path.to_owned()));
        let home = ("HOME", "/home/a");
        assert_eq!(found(&[home]), among("/home/a/.local/share/opencode"));
        assert_eq!(found(&[home, ("XDG_DATA_HOME", "")]), among("/home/a/.local/share/opencode"));
        assert_eq!(found(&[home, ("XDG_DATA_HOME", "/data")]), among("/data/opencode"));
        assert_eq!(found(&[home, ("OPENCODE_DB", "/x/y.db")]), at("/x/y.db"));
        let named = [home, ("XDG_DATA_HOME", "/data"), ("OPENCODE_DB", "y.db")];
        assert_eq!(found(&named), at("/data/opencode/y.db"));
        assert_eq!(found(&[home, ("OPENCODE_DB", ":memory:")]), None);
        assert_eq!(found(&[home, ("XDG_DATA_HOME", "data")]), None);
        assert_eq!(found(&[]), None);
        assert_eq!(OpenCode.rows("ses_1", &Places::default()), None);
    }

    #[test]
    fn another_conversation_cannot_be_asked_for() {
        for arg in ["--session=ses_1", "-s", "-s=ses_1", "-hs", "--cwd=/x", "--CWD", "run", "acp"] {
            assert!(OpenCode.check(Mode::Headless, &[arg.to_owned()]).is_err(), "{arg}");
        }
        assert!(OpenCode.check(Mode::Headless, &["--log-level=DEBUG".to_owned()]).is_ok());
        assert!(OpenCode.check(Mode::Terminal, &[]).is_err());
    }
}
