//! What was typed and not sent.

use crate::message::Effect;
use crate::model::Model;

/// What is typed and not sent is kept for the next time.
pub(super) fn keep(model: &mut Model, effects: &mut Vec<Effect>) {
    model.drafts.retain(|_, draft| !draft.text().is_empty());
    let drafts = model.drafts.iter().map(|(id, draft)| (id.clone(), draft.text().to_owned()));
    effects.push(Effect::KeepDrafts(drafts.collect()));
}
