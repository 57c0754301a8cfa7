//! A configuration that changes while the bot runs.

use super::*;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write("allowed_users = [7]");
        files.token('a');
        files
    }

    fn write(&self, keys: &str) {
        let token = self.0.path().join("token");
        let text = format!("[chat.telegram]\ntoken_file = '{}'\n{keys}\n", token.display());
        // Another file each time: two within a moment have the same times.
        std::fs::write(self.0.path().join("fresh"), text).unwrap();
        std::fs::rename(self.0.path().join("fresh"), self.config()).unwrap();
    }

    fn token(&self, letter: char) {
        let path = self.0.path().join("token");
        let token = format!("123456789:{}", letter.to_string().repeat(35));
        std::fs::write(&path, token).unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }

    fn config(&self) -> PathBuf {
        self.0.path().join("config.toml")
    }

    fn open(&self) -> Result<Settings, Complaint> {
        Settings::open(self.config(), None)
    }
}

#[test]
fn who_is_let_in_counts_at_once_and_a_broken_file_changes_nothing() {
    let files = Files::new();
    let settings = files.open().unwrap();
    let speaks = |chat| settings.policy().speaks_in(chat);
    assert!(speaks(7) && !speaks(8));
    files.write("allowed_users = [8]\nallowed_chats = [-5]");
    assert!(!speaks(7) && speaks(8) && speaks(-5));
    assert!(!settings.wants_anew() && settings.trouble().is_none());
    files.write("allowed_users = nobody");
    assert!(speaks(8) && settings.trouble().is_some());
    assert!(!settings.wants_anew());
    // As an editor leaves it for a moment.
    std::fs::write(files.config(), "").unwrap();
    assert!(!speaks(8) && !speaks(-5) && !settings.wants_anew());
    assert_eq!(settings.trouble().as_deref(), Some("no user may use the bot"));
    files.write("allowed_users = [7]");
    assert!(speaks(7) && settings.trouble().is_none());
}

#[test]
fn with_anything_else_it_begins_anew_if_it_can() {
    let files = Files::new();
    let settings = files.open().unwrap();
    files.write("allowed_users = [7]\nrepo = '/other'");
    assert!(settings.wants_anew());
    files.write("allowed_users = []\nrepo = '/other'");
    assert!(!settings.wants_anew(), "there is nobody to begin for");
    files.write("allowed_users = [7]");
    assert!(!settings.wants_anew());
    files.token('b');
    assert!(settings.wants_anew());
    std::fs::remove_file(files.0.path().join("token")).unwrap();
    assert!(!settings.wants_anew(), "there is nothing to begin with");
    assert!(files.open().is_err_and(|told| told.message.contains("cannot be read")));
}
