//! Where everything of ours lies. One rule for every process, so that all look in one place.

use std::path::{Path, PathBuf};

/// The environment variable that moves everything of ours into one folder.
pub const VARIABLE: &str = "GLIS_HOME";

/// The folders and files of one house.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// State: event log, sessions, locks, sockets.
    pub state: PathBuf,
    /// Configuration.
    pub config: PathBuf,
    /// Worktrees.
    pub worktrees: PathBuf,
}

impl Home {
    /// Finds the house from the environment, which is handed in as a look-up.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(root) = set(VARIABLE) {
            return Some(Self::under(&root));
        }
        let user = set("HOME")?;
        let folder = |name: &str, usual: &str| {
            let absolute = set(name).filter(|path| path.is_absolute());
            absolute.unwrap_or_else(|| user.join(usual)).join("glis")
        };
        Some(Self {
            state: folder("XDG_STATE_HOME", ".local/state"),
            config: folder("XDG_CONFIG_HOME", ".config"),
            worktrees: folder("XDG_DATA_HOME", ".local/share").join("worktrees"),
        })
    }

    /// A house with everything in one folder.
    pub fn under(root: &Path) -> Self {
        Self { state: root.to_owned(), config: root.to_owned(), worktrees: root.join("worktrees") }
    }

    /// The folder of one session.
    pub fn session(&self, id: &str) -> PathBuf {
        self.sessions().join(id)
    }

    /// Where the folders of sessions are.
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }

    /// Where removed sessions are put.
    pub fn trash(&self) -> PathBuf {
        self.state.join("trash")
    }

    /// Where drafts of plans are kept.
    pub fn plan_drafts(&self) -> PathBuf {
        self.state.join("plan-drafts")
    }

    /// The event log.
    pub fn events(&self) -> PathBuf {
        self.state.join(EVENTS)
    }

    /// The configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join(CONFIG)
    }
}

/// Name of the daemon's socket in the state folder.
pub const SOCKET: &str = "daemon.sock";
/// Name of the file that the one daemon of a house keeps locked.
pub const LOCK: &str = "daemon.lock";
/// Name of the file with the number of the process that starts the next daemon if this one dies.
pub const KEEPER: &str = "keeper";
/// Name of the configuration file in its folder.
pub const CONFIG: &str = "config.toml";
/// Name of the event log.
pub const EVENTS: &str = "events.db";
/// Name of the file that the one bot of a house keeps locked.
pub const CHAT_LOCK: &str = "chat.lock";
/// Name of the file that says how the bot is.
pub const CHAT_STATUS: &str = "chat.json";
/// What the name of a file of a chat's bot begins with that was damaged and put aside, in the state folder.
pub const CHAT_DAMAGED: &str = "chat.db.damaged-";
/// Name of the daemon's own log.
pub const DAEMON_LOG: &str = "daemon.log";

#[cfg(test)]
mod tests {
    use super::*;

    fn home(pairs: &[(&str, &str)]) -> Option<Home> {
        Home::find(|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn one_variable_moves_everything() {
        let found = home(&[("GLIS_HOME", "/x"), ("HOME", "/u")]).unwrap();
        assert_eq!(found, Home::under(Path::new("/x")));
    }

    #[test]
    fn without_it_the_usual_folders_are_used() {
        let found = home(&[("HOME", "/u"), ("XDG_STATE_HOME", "/s")]).unwrap();
        assert_eq!(found.state, Path::new("/s/glis"));
        assert_eq!(found.config, Path::new("/u/.config/glis"));
        assert_eq!(found.worktrees, Path::new("/u/.local/share/glis/worktrees"));
    }

    #[test]
    fn a_relative_folder_is_ignored_as_the_standard_demands() {
        let found = home(&[("HOME", "/u"), ("XDG_STATE_HOME", "s")]).unwrap();
        assert_eq!(found.state, Path::new("/u/.local/state/glis"));
        assert_eq!(home(&[]), None);
    }
}
