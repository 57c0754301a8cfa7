//! What a snapshot holds besides its files, read back.

use crate::fault::SnapshotFault;
use crate::fill::Item;
use crate::hash::{Format, Oid};
use crate::index::Index;
use crate::objects::Objects;
use crate::state::{NotCaptured, State, list_from_bytes};
use std::path::Path;

/// What a snapshot holds besides its files.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) commit: Oid,
    pub(crate) state: State,
    pub(crate) not_captured: Vec<NotCaptured>,
    pub(crate) index: Index,
    pub(crate) git_files: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Loaded {
    /// Reads a snapshot from the repository at `common`.
    pub(crate) fn read(common: &Path, commit: Oid, name: &str) -> Result<Self, SnapshotFault> {
        let items = |_: &mut Objects| crate::fill::items(common, &commit.to_string(), "gitdir");
        Self::read_by(&mut Objects::open(common)?, commit, name, items)
    }

    /// As [`Self::read`], in a conversation that is under way. `items` lists git's own files.
    pub(crate) fn read_by(
        objects: &mut Objects,
        commit: Oid,
        name: &str,
        items: impl FnOnce(&mut Objects) -> Result<Vec<Item>, SnapshotFault>,
    ) -> Result<Self, SnapshotFault> {
        let mut part = |part: &str| {
            let bytes = objects.read(&format!("{commit}:{part}"))?;
            bytes.ok_or_else(|| SnapshotFault::Incomplete {
                reference: name.to_owned(),
                what: format!("{part} is missing"),
            })
        };
        let strange = || SnapshotFault::Incomplete {
            reference: name.to_owned(),
            what: "its state cannot be understood".to_owned(),
        };
        let state = State::from_bytes(&part("state")?).ok_or_else(strange)?;
        let not_captured = list_from_bytes(&part("not-captured")?);
        let raw = part("index")?;
        let format = if commit.as_bytes().len() == 20 { Format::Sha1 } else { Format::Sha256 };
        let index = if raw.is_empty() {
            Index::empty(format)
        } else {
            Index::parse(raw, format, 0).map_err(|_| strange())?
        };
        let mut git_files = Vec::new();
        for item in items(objects)? {
            let bytes = objects.read(&item.oid.to_string())?.ok_or_else(strange)?;
            git_files.push((item.path, bytes));
        }
        Ok(Self { commit, state, not_captured, index, git_files })
    }

    pub(crate) fn git_text(&self, name: &str) -> Option<String> {
        let (_, bytes) = self.git_files.iter().find(|(path, _)| path == name.as_bytes())?;
        Some(String::from_utf8_lossy(bytes).trim_end().to_owned())
    }
}
