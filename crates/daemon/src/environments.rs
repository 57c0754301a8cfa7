//! The environments that processes are started with: handed over in memory, only their names kept.

use crate::access::KNOWN_MAX;
use crate::panics::held;
use glis_core::SessionId;
use glis_core::session::Session;
use glis_wire::hold::Limit;
use glis_wire::home::Home;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use tracing::warn;

pub(crate) type Env = Vec<(String, String)>;

/// Name of the note about a session's environment, in its folder.
const NOTE: &str = "environment.json";

/// What a process was started with, without any value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EnvNote {
    pub(crate) names: Vec<String>,
    pub(crate) origin: EnvOrigin,
    /// Where the agent keeps its transcripts, by that environment.
    pub(crate) agent_home: Option<String>,
    /// What a person should know about the agent's program or its transcript.
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
}

/// Whose environment a process got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EnvOrigin {
    /// That of the command which started it.
    #[default]
    Caller,
    /// That of its former process, as the holder of that one remembered it: no command caused the
    /// start, and the last one that did came before this daemon.
    Former,
    /// The daemon's own: no command caused the start, and no other is remembered.
    Daemon,
}

/// What a process gets from the command that causes its start.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) env: Env,
    pub(crate) limits: Vec<Limit>,
}

/// What is known for the next start of one session.
#[derive(Debug, Clone, Default)]
struct Known {
    note: Option<Arc<EnvNote>>,
    env: Option<(Arc<Env>, EnvOrigin)>,
    limits: Vec<Limit>,
}

pub(crate) struct Environments {
    home: Home,
    own: Env,
    known: Mutex<HashMap<SessionId, Known>>,
}

impl Environments {
    pub(crate) fn new(home: Home) -> Self {
        Self { home, own: own_environment(), known: Mutex::default() }
    }

    /// Remembers the environment of a command that may cause a start, in memory only.
    pub(crate) fn remember(&self, id: &SessionId, caller: Caller) {
        let mut table = held(&self.known);
        let env = shared(&table, caller.env);
        let known = table.entry(id.clone()).or_default();
        known.env = Some((env, EnvOrigin::Caller));
        known.limits = caller.limits;
    }

    /// Remembers what a holder has told of its agent's environment, unless a command was faster.
    pub(crate) fn learn(&self, id: &SessionId, env: Env, limits: Vec<Limit>) {
        let mut table = held(&self.known);
        let env = shared(&table, env);
        let known = table.entry(id.clone()).or_default();
        if known.env.is_none() {
            known.env = Some((env, EnvOrigin::Former));
            known.limits = limits;
        }
    }

    /// What this daemon knows of the command that started a session.
    pub(crate) fn known_of(&self, id: &SessionId) -> Option<Caller> {
        let table = held(&self.known);
        let known = table.get(id)?;
        let (env, _) = known.env.as_ref()?;
        Some(Caller { env: Env::clone(env), limits: known.limits.clone() })
    }

    /// The environment for the next start, and whose it is.
    pub(crate) fn of_next_start(&self, session: &Session) -> (Env, EnvOrigin) {
        let remembered = held(&self.known).get(&session.id).and_then(|known| known.env.clone());
        remembered.map_or_else(
            || (self.own.clone(), EnvOrigin::Daemon),
            |(env, origin)| (Env::clone(&env), origin),
        )
    }

    /// The limits for the next start; none means the daemon's own.
    pub(crate) fn limits(&self, session: &Session) -> Vec<Limit> {
        held(&self.known).get(&session.id).map(|known| known.limits.clone()).unwrap_or_default()
    }

    /// Notes what a process was started with: the names, never the values.
    pub(crate) fn note(&self, id: &SessionId, mut note: EnvNote) {
        note.names.sort();
        let dir = self.home.session(&id.0);
        let written = serde_json::to_vec(&note)
            .map_err(io::Error::from)
            .and_then(|bytes| glis_record::durable::write(&dir, NOTE, &bytes));
        if let Err(fault) = written {
            warn!(session = %id, "the names of its variables: {fault}");
        }
        let mut table = held(&self.known);
        let note = alike(&table, note);
        table.entry(id.clone()).or_default().note = Some(note);
    }

    /// Lets go of notes that lie in sessions' folders, where they are of many.
    pub(crate) fn forget(&self) {
        let mut table = held(&self.known);
        if table.len() > KNOWN_MAX {
            table.values_mut().for_each(|known| known.note = None);
            table.retain(|_, known| known.env.is_some());
            table.shrink_to_fit();
        }
    }

    /// What the session's process was last started with, as far as it is known.
    pub(crate) fn noted(&self, id: &SessionId) -> Arc<EnvNote> {
        if let Some(note) = held(&self.known).get(id).and_then(|known| known.note.clone()) {
            return note;
        }
        let read = std::fs::read(self.home.session(&id.0).join(NOTE)).ok();
        let note: EnvNote =
            read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let mut table = held(&self.known);
        let note = alike(&table, note);
        Arc::clone(table.entry(id.clone()).or_default().note.get_or_insert(note))
    }
}

/// Sessions that were begun in one shell have one environment and one note about it, kept once.
fn kept_once<'k, T: PartialEq + 'k>(mut known: impl Iterator<Item = &'k Arc<T>>, new: T) -> Arc<T> {
    known.find(|known| ***known == new).map_or_else(|| Arc::new(new), Arc::clone)
}

fn shared(table: &HashMap<SessionId, Known>, env: Env) -> Arc<Env> {
    kept_once(table.values().filter_map(|known| known.env.as_ref()).map(|(env, _)| env), env)
}

fn alike(table: &HashMap<SessionId, Known>, note: EnvNote) -> Arc<EnvNote> {
    kept_once(table.values().filter_map(|known| known.note.as_ref()), note)
}

/// What the daemon itself was started with, less what was meant for it alone.
pub(crate) fn own_environment() -> Env {
    std::env::vars_os()
        .filter(|(name, _)| name != "MALLOC_ARENA_MAX")
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(value: &str) -> Env {
        vec![("TOKEN".to_owned(), value.to_owned())]
    }

    #[test]
    fn a_command_goes_before_a_holder_and_a_holder_before_the_daemon() {
        let folder = tempfile::tempdir().unwrap();
        let environments = Environments::new(Home::under(folder.path()));
        let session = crate::fill::session();
        assert_eq!(environments.of_next_start(&session).1, EnvOrigin::Daemon);
        environments.learn(&session.id, env("former"), Vec::new());
        let former = (env("former"), EnvOrigin::Former);
        assert_eq!(environments.of_next_start(&session), former);
        environments.remember(&session.id, Caller { env: env("caller"), limits: Vec::new() });
        environments.learn(&session.id, env("late"), Vec::new());
        let caller = (env("caller"), EnvOrigin::Caller);
        assert_eq!(environments.of_next_start(&session), caller);
    }

    #[test]
    fn one_environment_of_many_sessions_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let environments = Environments::new(Home::under(folder.path()));
        for (id, value) in [("a", "same"), ("b", "other"), ("c", "same")] {
            let caller = Caller { env: env(value), limits: Vec::new() };
            environments.remember(&SessionId(id.to_owned()), caller);
        }
        environments.learn(&SessionId("d".to_owned()), env("same"), Vec::new());
        let table = held(&environments.known);
        let of = |id: &str| &table[&SessionId(id.to_owned())].env.as_ref().unwrap().0;
        assert!(Arc::ptr_eq(of("a"), of("c")) && Arc::ptr_eq(of("a"), of("d")));
        assert_eq!((&**of("b"), &**of("c")), (&env("other"), &env("same")));
    }

    #[test]
    fn the_next_daemon_knows_the_names_and_no_value() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::under(folder.path());
        let session = crate::fill::session();
        let dir = home.session(&session.id.0);
        std::fs::create_dir_all(&dir).unwrap();
        let environments = Environments::new(home.clone());
        assert_eq!(*environments.noted(&session.id), EnvNote::default());
        let names = vec!["TOKEN".to_owned(), "A".to_owned()];
        environments.note(&session.id, EnvNote { names, ..EnvNote::default() });
        let next = Environments::new(home).noted(&session.id);
        assert_eq!(next.names, ["A", "TOKEN"]);
        assert_eq!(next, environments.noted(&session.id));
    }
}
