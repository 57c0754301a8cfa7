//! What was typed and not sent.

use super::NewBox;
use crate::editor::Editor;
use std::collections::BTreeMap;

/// What a new session was to be told is a draft as well, under this name, which no session's id is.
pub(crate) const NEW_DRAFT: &str = "new";

#[derive(Default)]
pub(crate) struct Drafts {
    pub(crate) texts: BTreeMap<String, Editor>,
    /// When what is typed is kept, in case that the program is killed in the middle of it.
    pub(crate) keeps_at: Option<u64>,
    /// The box of a session that was refused, for the next time that it is opened.
    pub(crate) refused: Option<Box<NewBox>>,
}

impl Drafts {
    pub(crate) fn of(kept: BTreeMap<String, String>) -> Self {
        let texts = kept.into_iter().map(|(id, text)| (id, Editor::with(&text))).collect();
        Self { texts, ..Self::default() }
    }

    /// What was typed for a session.
    pub(crate) fn text(&self, id: &str) -> &str {
        self.texts.get(id).map_or("", Editor::text)
    }

    /// The box that it is typed into.
    pub(crate) fn editor(&mut self, id: &str) -> &mut Editor {
        self.texts.entry(id.to_owned()).or_default()
    }

    /// What did not arrive is a draft again, before what was typed since.
    pub(crate) fn give_back(&mut self, id: &str, text: &str) {
        let draft = self.editor(id);
        let parts = [text, draft.text()].into_iter().filter(|part| !part.is_empty());
        *draft = Editor::with(&parts.collect::<Vec<_>>().join("\n"));
    }
}
