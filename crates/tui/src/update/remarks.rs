//! What a person does with the diff of the session in hand.

use super::drafts;
use crate::model::{Mode, Model};
use crate::remarks::{Comment, Remarks};

/// Those of the session in hand.
pub(super) fn of(model: &mut Model) -> &mut Remarks {
    let id = model.hand.selected.clone().unwrap_or_default();
    model.pane.remarks.entry(id).or_default()
}

/// Takes the words on a line. The hand is in the diff again.
pub(super) fn comment(model: &mut Model, comment: Comment) {
    of(model).comment(comment);
    drafts::keep(model);
    model.pane.changed();
    model.mode = Mode::View { words: None };
}
