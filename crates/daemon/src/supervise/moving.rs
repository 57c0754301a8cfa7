//! Where listening goes on after a session's folder was deleted: in the one that its holder made.

use super::listener::Listener;
use crate::reading::read_from;
use glis_agent::hooks;
use std::fs::OpenOptions;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

impl Listener {
    /// Goes on in the folder that took the place of a deleted one.
    pub(super) async fn move_house(&mut self) -> io::Result<()> {
        let dir = self.dir();
        self.conversation.move_to(&dir)?;
        self.supervisor.live.conversation_grew();
        let (hooks_at, generation) = (self.hooks_at.unwrap_or_default(), self.generation);
        let hold_place = move || hooks_again(&dir.join(hooks::FILE), hooks_at, generation);
        self.supervisor.run_blocking(hold_place).await
    }
}

/// Makes the file of an agent's hooks again after it was deleted. What they tell from here on must not
/// come at places that were heard before: the file is as long as it was, with nothing in it.
fn hooks_again(path: &Path, heard: u64, generation: u32) -> io::Result<()> {
    let mark = hooks::mark(generation);
    let Some(empty) = heard.checked_sub(mark.len() as u64) else { return Ok(()) };
    let since = read_from(path, 0)?;
    if since.len() as u64 >= heard {
        return Ok(());
    }
    let fresh = path.with_extension("fresh");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.set_len(empty)?;
    file.seek(SeekFrom::Start(empty))?;
    file.write_all(mark.as_bytes())?;
    file.write_all(&since)?;
    std::fs::rename(fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hooks_tell_after_a_loss_comes_behind_all_that_was_heard() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(hooks::FILE);
        std::fs::write(&path, "{\"since\":1}\n").unwrap();
        hooks_again(&path, 5000, 3).unwrap();
        let file = std::fs::read(&path).unwrap();
        assert_eq!(hooks::begun(&file, 3), 5000);
        assert_eq!(&file[5000..], b"{\"since\":1}\n");
        // Told twice, nothing is moved twice.
        hooks_again(&path, 5000, 3).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), file);
    }
}
