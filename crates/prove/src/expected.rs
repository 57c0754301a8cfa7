//! What a portrait of a worktree is expected to become, and how much of it there is.

use crate::portrait::{Item, Portrait};

impl Portrait {
    /// How much there is to compare.
    pub(crate) fn bytes(&self) -> u64 {
        let size = |item: &Item| match item {
            Item::File { bytes, .. } | Item::Link(bytes) | Item::Git(bytes) => bytes.len(),
            Item::Folder { .. } => 0,
        };
        self.0.iter().map(|(name, item)| (name.len() + size(item)) as u64).sum()
    }

    /// How many files there are.
    pub(crate) fn files(&self) -> usize {
        let is_file = |item: &&Item| matches!(item, Item::File { .. } | Item::Link(_));
        self.0.values().filter(is_file).count()
    }

    /// Expects this text at the end of a file.
    pub(crate) fn append(&mut self, name: &str, text: &[u8]) {
        if let Some(Item::File { bytes, .. }) = self.0.get_mut(name.as_bytes()) {
            bytes.extend_from_slice(text);
        }
    }

    /// Expects of one file what `other` has of it, if that is what was there and a beginning of
    /// this text: a writer was killed in the middle.
    pub(crate) fn append_some(&mut self, name: &str, text: &[u8], other: &Self) {
        let seen = other.0.get(name.as_bytes());
        let (Some(Item::File { bytes, .. }), Some(Item::File { bytes: seen, .. })) =
            (self.0.get_mut(name.as_bytes()), seen)
        else {
            return;
        };
        let added = seen.strip_prefix(bytes.as_slice());
        if let Some(added) = added.filter(|added| text.starts_with(added)) {
            bytes.extend_from_slice(added);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, u32, &str)]) -> Portrait {
        let item = |mode, text: &str| Item::File { mode, bytes: text.as_bytes().to_vec() };
        let name = |name: &str| name.as_bytes().to_vec();
        Portrait(files.iter().map(|(path, mode, text)| (name(path), item(*mode, text))).collect())
    }

    #[test]
    fn a_lost_byte_a_changed_mode_and_a_file_too_many_are_differences() {
        let before = of(&[("a", 0o644, "one\n"), ("b", 0o755, "two\n"), ("c", 0o644, "")]);
        assert_eq!(before.differences(&before.clone()), Vec::<String>::new());
        let after = of(&[("a", 0o644, "one"), ("b", 0o644, "two\n"), ("d", 0o644, "")]);
        assert_eq!(
            before.differences(&after),
            [
                "a: 3 bytes, were 4; they part at byte 3",
                "b: its mode was 755 and is 644",
                "c: it is gone",
                "d: it was not there",
            ]
        );
    }

    #[test]
    fn a_killed_writer_may_have_written_a_beginning_and_nothing_else() {
        let mut before = of(&[("a", 0o644, "one\n")]);
        for (seen, differs) in
            [("one\n", false), ("one\ntw", false), ("one\ntwx", true), ("on", true)]
        {
            let seen = of(&[("a", 0o644, seen)]);
            let mut expected = before.clone();
            expected.append_some("a", b"two\n", &seen);
            assert_eq!(!expected.differences(&seen).is_empty(), differs, "{seen:?}");
        }
        before.append("a", b"two\n");
        assert!(before.differences(&of(&[("a", 0o644, "one\ntwo\n")])).is_empty());
    }
}
