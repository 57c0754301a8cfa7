//! What was typed and not sent: kept for the next time, wherever it was typed and however this ends.

use crate::deed::Deed;
use crate::editor::Editor;
use crate::message::Effect;
use crate::model::{Mode, Model, NEW_DRAFT};
use crate::wanted::Wanted;
use std::collections::BTreeMap;

/// No more than this is lost of what is typed where the program is killed in the middle of it.
const KEEP_MS: u64 = 1000;

pub(super) fn keep(model: &mut Model) {
    model.drafts.texts.retain(|_, draft| !draft.text().is_empty());
    model.drafts.keeps_at = None;
    model.effects.push(Effect::KeepDrafts(unsent(model)));
}

/// A key was pressed: what is typed is kept before long.
pub(super) fn typed(model: &mut Model) {
    let is_typed = matches!(model.mode, Mode::Send { .. }) || in_box(model).is_some();
    if is_typed && model.drafts.keeps_at.is_none() {
        model.drafts.keeps_at = Some(model.now.ms + KEEP_MS);
    }
}

/// Whose draft is in the box that is open.
pub(super) fn shown(model: &Model) -> Option<String> {
    if let Mode::Send { id, .. } = &model.mode {
        return Some(id.clone());
    }
    matches!(model.mode, Mode::New(_)).then(|| NEW_DRAFT.to_owned())
}

/// Reads the draft of a box again that has just been opened: another overview may have sent it. What is on its way
/// from here is not in the box, and known better here.
pub(super) fn read_again(model: &mut Model, former: Option<&str>) {
    let opened = shown(model).filter(|id| former != Some(id));
    let is_kept =
        |id: &String| unsent(model).remove(id).unwrap_or_default() == model.drafts.text(id);
    model.effects.extend(opened.filter(is_kept).map(|id| Effect::ReadDraft { id }));
}

/// Another overview has changed a draft: that is in the box, with what was typed here meanwhile.
pub(super) fn changed(model: &mut Model, id: &str, (before, text): (&str, &str)) {
    let draft = if let (Mode::New(form), NEW_DRAFT) = (&mut model.mode, id) {
        &mut form.prompt
    } else {
        model.drafts.editor(id)
    };
    let whole = match draft.text().strip_prefix(before) {
        Some(typed) => format!("{text}{typed}"),
        None if text.is_empty() => return,
        None => format!("{text}\n{}", draft.text()),
    };
    *draft = Editor::with(&whole);
}

/// Everything that was typed and not sent, by session: also what is on its way, until it has arrived.
pub(crate) fn unsent(model: &Model) -> BTreeMap<String, String> {
    let on_its_way = model.work.under_way.values().filter_map(|one| {
        let words = one.deed.as_ref().and_then(Deed::words);
        let own = one.id.as_deref().zip(words);
        own.or_else(|| one.prompt.as_deref().map(|prompt| (NEW_DRAFT, prompt)))
    });
    let in_box = in_box(model);
    // A box that was opened with a draft has that in it.
    let is_open = |id: &str| matches!(model.mode, Mode::New(_)) && id == NEW_DRAFT;
    let drafts = model.drafts.texts.iter().map(|(id, draft)| (id.as_str(), draft.text()));
    let all = on_its_way.chain(drafts.filter(|(id, _)| !is_open(id))).chain(in_box);
    // The next time they are the draft of a message.
    let comments = model.pane.remarks.iter();
    let comments: Vec<_> = comments.filter_map(|(id, own)| Some((id, own.message()?))).collect();
    let all = all.chain(comments.iter().map(|(id, text)| (id.as_str(), text.as_str())));
    let mut unsent: BTreeMap<String, String> = BTreeMap::new();
    for (id, text) in all.filter(|(_, text)| !text.is_empty()) {
        let kept = unsent.entry(id.to_owned()).or_default();
        kept.extend((!kept.is_empty()).then_some('\n'));
        kept.push_str(text);
    }
    unsent
}

/// What is typed into the box that is open, and whom it is for. A message is typed into its draft.
pub(super) fn in_box(model: &Model) -> Option<(&str, &str)> {
    if let Mode::New(form) = &model.mode {
        return Some((NEW_DRAFT, form.prompt.text()));
    }
    let Mode::Words(form) = &model.mode else { return None };
    let is_kept = form.ask().is_some() || form.wanted == Wanted::ResumeWords;
    form.ids.first().filter(|_| is_kept).map(|id| (id.as_str(), form.words.text()))
}
