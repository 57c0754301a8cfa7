//! The configuration that counts: read again when its file has changed.

use glis_approve::Judge;
use glis_config::Config;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The configuration as its file has it. What is changed there counts from the next request on, or
/// from when its folder tells; a file with a fault changes nothing.
pub(crate) struct Settings {
    path: PathBuf,
    held: Mutex<Held>,
}

struct Held {
    mark: Mark,
    config: Arc<Config>,
    /// What applies the rules of that.
    judge: Arc<Judge>,
    fault: Option<String>,
}

/// By what a file is known to be another one than before; nothing if it is not there.
type Mark = Option<(u64, u64, i64, i64, i64, i64)>;

fn mark(path: &Path) -> Mark {
    let facts = std::fs::metadata(path).ok()?;
    let (modified, changed) = (facts.mtime_nsec(), facts.ctime_nsec());
    Some((facts.ino(), facts.len(), facts.mtime(), modified, facts.ctime(), changed))
}

impl Settings {
    /// Reads the file for the first time.
    pub(crate) fn read(path: PathBuf) -> Result<Self, String> {
        // Marked first: what is changed while it is read is read again.
        let mark = mark(&path);
        let (config, judge) = read(&path)?;
        Ok(Self { path, held: Mutex::new(Held { mark, config, judge, fault: None }) })
    }

    /// What counts.
    pub(crate) fn now(&self) -> Arc<Config> {
        Arc::clone(&self.held().config)
    }

    /// What applies the rules that count.
    pub(crate) fn judge(&self) -> Arc<Judge> {
        Arc::clone(&self.held().judge)
    }

    /// What is wrong with the file as it is. Then the former one counts.
    pub(crate) fn fault(&self) -> Option<String> {
        self.held().fault.clone()
    }

    /// Looks at the file, beside everything else, and reads it if it has changed. A caller
    /// that only wants to know a value never waits for a disk.
    pub(crate) async fn refresh(self: Arc<Self>) {
        drop(tokio::task::spawn_blocking(move || self.look()).await);
    }

    /// The same, in a thread that may block.
    pub(crate) fn look(&self) {
        let mark = mark(&self.path);
        if mark == self.held().mark {
            return;
        }
        let read = read(&self.path);
        let mut held = self.held();
        held.mark = mark;
        held.fault = match read {
            Ok((config, judge)) => {
                held.config = config;
                held.judge = judge;
                None
            }
            Err(fault) => {
                crate::diary(&format!("{fault}; the former configuration is used"));
                Some(fault)
            }
        };
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(path: &Path) -> Result<(Arc<Config>, Arc<Judge>), String> {
    let config = Config::read(path).map_err(|unread| unread.to_string())?;
    let judge = config.auto_yes.judge()?;
    Ok((Arc::new(config), Arc::new(judge)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_counts_and_a_broken_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let settings = Settings::read(path.clone()).unwrap();
        assert_eq!(settings.now().default_agent, None);
        let agent = |name: &str| {
            std::fs::write(&path, format!("default_agent = \"{name}\"\n")).unwrap();
            settings.look();
            settings.now().default_agent.clone()
        };
        assert_eq!(agent("one").as_deref(), Some("one"));
        assert_eq!(agent("two").as_deref(), Some("two"));
        std::fs::write(&path, "default_agent = 3\n").unwrap();
        settings.look();
        assert_eq!(settings.now().default_agent.as_deref(), Some("two"));
        assert!(settings.fault().is_some_and(|fault| fault.contains("config.toml:1: ")));
        assert_eq!(agent("three").as_deref(), Some("three"));
        assert_eq!(settings.fault(), None);
        std::fs::remove_file(&path).unwrap();
        settings.look();
        assert_eq!(settings.now().default_agent, None);
    }

    /// Whichever group the fault is in, nothing else of the file counts, and nothing of the rules.
    #[test]
    fn a_fault_in_any_group_keeps_the_last_good_file_as_a_whole() {
        let documented = include_str!("../../config/src/documented.toml");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, documented).unwrap();
        let settings = Settings::read(path.clone()).unwrap();
        let (config, judge) = (settings.now(), settings.judge());
        let groups: Vec<_> = documented.lines().filter(|line| line.starts_with('[')).collect();
        assert!(groups.len() > 20, "{groups:?}");
        for group in groups {
            // All other groups are as if nothing were written there.
            std::fs::write(&path, format!("{group}\nno_such_key = 1\n")).unwrap();
            settings.look();
            let fault = settings.fault();
            let told = fault.as_ref().is_some_and(|fault| fault.contains("config.toml:"));
            assert!(told, "{group}: {fault:?}");
            assert!(Arc::ptr_eq(&settings.now(), &config), "{group}");
            assert!(Arc::ptr_eq(&settings.judge(), &judge), "{group}");
        }
        std::fs::write(&path, documented).unwrap();
        settings.look();
        assert_eq!(settings.fault(), None);
        assert!(!Arc::ptr_eq(&settings.now(), &config), "what is mended counts again");
    }
}
