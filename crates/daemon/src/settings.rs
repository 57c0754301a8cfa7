//! The configuration that counts: read again when its file has changed.

use crate::panics::held;
use glis_approve::Judge;
use glis_config::{Config, Fault, Mark};
use glis_record::durable;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tracing::warn;

/// The configuration as its file has it. What is changed there counts from the next request on, or
/// from when its folder tells; a file with a fault changes nothing.
pub(crate) struct Settings {
    path: PathBuf,
    /// Where a copy of the last file without a fault is kept, for a daemon that begins beside one with.
    copy: Copy,
    held: Mutex<Held>,
}

/// A folder, in which it has the name that people know.
struct Copy(PathBuf);

const COPY: &str = "config.toml";

struct Held {
    mark: Mark,
    good: Good,
    /// What is wrong with the file by now.
    fault: Option<String>,
}

impl Settings {
    /// Reads the file for the first time. One that was broken since a daemon last read it keeps nobody
    /// from their agents: what it was before counts, as it would have for that daemon.
    pub(crate) fn open(path: PathBuf, copies: PathBuf) -> Result<Self, String> {
        let copy = Copy(copies);
        // Marked first: what is changed while it is read is read again.
        let mark = Mark::of(&path);
        let (good, fault) = match read(&path) {
            Ok(good) => {
                copy.begin();
                copy.keep(&good.text);
                (good, None)
            }
            Err(fault) => {
                warn!("{fault}; the former configuration is used if there is one");
                (copy.read().ok_or_else(|| fault.clone())?, Some(fault))
            }
        };
        Ok(Self { path, copy, held: Mutex::new(Held { mark, good, fault }) })
    }

    pub(crate) fn now(&self) -> Arc<Config> {
        Arc::clone(&held(&self.held).good.config)
    }

    /// What applies the rules that count.
    pub(crate) fn judge(&self) -> Arc<Judge> {
        Arc::clone(&held(&self.held).good.judge)
    }

    /// What is wrong with the file as it is. Then the former one counts.
    pub(crate) fn fault(&self) -> Option<String> {
        held(&self.held).fault.clone()
    }

    /// Rules in what counts that may not be used, by line.
    pub(crate) fn unused(&self) -> Vec<String> {
        held(&self.held).good.unused.clone()
    }

    /// Tables in what counts that have another name now, by line.
    pub(crate) fn outdated(&self) -> Vec<String> {
        held(&self.held).good.outdated.clone()
    }

    /// Looks at the file, in a thread that may block, and reads it if it has changed. A caller that only
    /// wants to know a value never waits for a disk.
    pub(crate) fn look(&self) {
        let mark = Mark::of(&self.path);
        if mark == held(&self.held).mark {
            return;
        }
        let read = read(&self.path);
        if let Ok(good) = &read {
            self.copy.keep(&good.text);
        }
        let mut held = held(&self.held);
        held.mark = mark;
        held.fault = match read {
            Ok(good) => {
                held.good = good;
                None
            }
            Err(fault) => {
                warn!("{fault}; the former configuration is used");
                Some(fault)
            }
        };
    }
}

impl Copy {
    /// Makes the folder, once: where it is gone later, so is the home, and nothing is to be made there.
    fn begin(&self) {
        told(durable::private_folder(&self.0));
    }

    fn keep(&self, text: &str) {
        if std::fs::read_to_string(self.0.join(COPY)).is_ok_and(|kept| kept == text) {
            return;
        }
        told(durable::replace(&self.0, COPY, text.as_bytes()));
    }

    /// What was kept last, if anything was.
    fn read(&self) -> Option<Good> {
        let path = self.0.join(COPY);
        path.exists().then(|| read(&path).ok())?
    }
}

/// That no copy can be kept is no reason to keep anybody waiting.
fn told(kept: std::io::Result<()>) {
    if let Err(fault) = kept {
        warn!("no copy of the configuration is kept: {fault}");
    }
}

/// A file without a fault.
struct Good {
    text: String,
    config: Arc<Config>,
    /// What applies the rules of that.
    judge: Arc<Judge>,
    /// Rules of it that may not be used, by line.
    unused: Vec<String>,
    outdated: Vec<String>,
}

fn read(path: &Path) -> Result<Good, String> {
    let (config, text) = Config::read_with_text(path).map_err(|unread| unread.to_string())?;
    let judge = Arc::new(config.auto_yes.judge()?);
    let told = |fault: Fault| format!("{}:{}: {}", path.display(), fault.line, fault.why);
    let unused: Vec<String> = glis_config::unused(&text).into_iter().map(told).collect();
    let outdated = glis_config::outdated(&text).into_iter().map(told).collect();
    for line in &unused {
        warn!("{line}");
    }
    Ok(Good { text, config: Arc::new(config), judge, unused, outdated })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_counts_and_a_broken_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let settings = Settings::open(path.clone(), dir.path().join("backup")).unwrap();
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

    #[test]
    fn a_rule_that_may_not_be_used_spoils_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let rule =
            "[[auto_yes.rule]]\nprogram = \"bash\"\narguments = [\"word\"]\nmatch = [\"bash x\"]\n";
        std::fs::write(&path, format!("default_agent = \"one\"\n{rule}")).unwrap();
        let settings = Settings::open(path.clone(), dir.path().join("backup")).unwrap();
        assert_eq!(settings.now().default_agent.as_deref(), Some("one"));
        assert_eq!(settings.fault(), None);
        let unused = settings.unused();
        assert!(
            unused.len() == 1 && unused[0].contains("config.toml:3: rule \"bash\""),
            "{unused:?}"
        );
        let told = settings.judge().verdict(glis_approve::Request::Command("bash x"), None);
        let why = glis_approve::Why::Barred { program: "bash".to_owned() };
        assert_eq!(told, glis_approve::Verdict::Manual(why));
        std::fs::write(&path, "").unwrap();
        settings.look();
        assert_eq!(settings.unused(), [""; 0]);
    }

    /// Another daemon that finds it broken goes by what it was; where it never was whole, none begins.
    #[test]
    fn a_file_that_broke_between_two_daemons_counts_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let (path, copies) = (dir.path().join("config.toml"), dir.path().join("backup"));
        let open = || Settings::open(path.clone(), copies.clone());
        let agent = |settings: &Settings| settings.now().default_agent.clone();
        std::fs::write(&path, "default_agent = 3\n").unwrap();
        assert!(open().err().unwrap().contains("config.toml:1: "));
        std::fs::write(&path, "default_agent = \"one\"\n").unwrap();
        let first = open().unwrap();
        std::fs::write(&path, "default_agent = \"two\"\n").unwrap();
        first.look();
        std::fs::write(&path, "default_agent = 3\n").unwrap();
        first.look();
        let second = open().unwrap();
        assert_eq!(agent(&second).as_deref(), Some("two"));
        assert!(second.fault().unwrap().starts_with(path.to_str().unwrap()), "not the copy's");
        std::fs::write(&path, "default_agent = \"three\"\n").unwrap();
        second.look();
        assert_eq!((agent(&second).as_deref(), second.fault()), (Some("three"), None));
        // Without a file the defaults count, and they are what is kept.
        std::fs::remove_file(&path).unwrap();
        second.look();
        std::fs::write(&path, "default_agent = 3\n").unwrap();
        assert_eq!(agent(&open().unwrap()), None);
    }

    /// A home that was moved away takes its configuration along. Nothing is made where it was: a
    /// person who moves it back must not find something in its place.
    #[test]
    fn nothing_is_kept_where_the_home_has_gone() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let path = home.join("config.toml");
        std::fs::write(&path, "default_agent = \"one\"\n").unwrap();
        let settings = Settings::open(path, home.join("backup")).unwrap();
        std::fs::rename(&home, dir.path().join("gone")).unwrap();
        settings.look();
        assert!(!home.exists());
        let kept = std::fs::read_to_string(dir.path().join("gone/backup").join(COPY)).unwrap();
        assert_eq!(kept, "default_agent = \"one\"\n");
    }

    /// Whichever group the fault is in, nothing else of the file counts, and nothing of the rules.
    #[test]
    fn a_fault_in_any_group_keeps_the_last_good_file_as_a_whole() {
        let documented = include_str!("../../config/src/documented.toml");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, documented).unwrap();
        let settings = Settings::open(path.clone(), dir.path().join("backup")).unwrap();
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
