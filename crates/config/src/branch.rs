//! What the name of a branch may begin with.

/// Whether git takes a branch whose name begins so.
pub(crate) fn may_begin_with(prefix: &str) -> bool {
    let name = format!("{prefix}x");
    let is_odd = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && part.strip_suffix(".lock").is_none()
    };
    let whole = ["..", "@{"].iter().all(|odd| !name.contains(odd));
    whole && !name.starts_with('-') && !name.contains(is_odd) && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_takes_for_no_name_begins_none() {
        for prefix in ["", "glis/", "a-b/c.d/", "ada_"] {
            assert!(may_begin_with(prefix), "{prefix}");
        }
        for prefix in ["../x", "/", "a//", "-a", ".a/", "a b/", "a~", "a@{", "a.lock/", "a./"] {
            assert!(!may_begin_with(prefix), "{prefix}");
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, "[worktree]\nbranch_prefix = \"../x\"\n").unwrap();
        let why = crate::Config::read(&path).unwrap_err().to_string();
        assert!(why.contains("branch_prefix"), "{why}");
    }
}
