//! Sessions that go away while this shows them.

use super::{move_on, wrong};
use crate::command::Command;
use crate::keymap::Place;
use crate::message::Told;
use crate::model::{Mode, Model, Sure};
use glis_wire::view::SessionView;

/// A session is no longer there. A box about it stays open, or the next letters that are typed into it would
/// be commands; what is sent from it is refused by the daemon, and a draft again.
pub(super) fn forget(model: &mut Model, gone: SessionView) {
    if is_typed_about(model, &gone.id) {
        let message = format!("`{}` is gone", gone.name);
        let hint = format!("{} shows the trash", model.key(Place::List, Command::Trash));
        wrong(model, Told { message, hint: Some(hint) });
    }
    model.gone.insert(gone.id.clone(), gone.name.clone());
    if model.selected.as_ref() == Some(&gone.id) {
        // Its snapshots are not to choose from any more; the row says why.
        if matches!(model.mode, Mode::Pick { .. }) {
            model.mode = Mode::List;
        }
        model.removed = Some(gone);
        move_on(model);
    }
}

fn is_typed_about(model: &Model, gone: &str) -> bool {
    match &model.mode {
        Mode::Send { id, .. } | Mode::AnswerWords { id, .. } | Mode::Inline { id } => id == gone,
        Mode::File(form) => form.id == gone,
        Mode::Words(form) => form.ids.iter().any(|id| id == gone),
        Mode::Confirm { sure: Sure::Each { ids, .. }, .. } => ids.iter().any(|id| id == gone),
        Mode::Confirm { sure: Sure::Call { .. } | Sure::Undo { .. }, .. }
        | Mode::New(_)
        | Mode::Plan(_)
        | Mode::List
        | Mode::Help { .. }
        | Mode::Filter
        | Mode::Asks { .. }
        | Mode::Palette { .. }
        | Mode::History
        | Mode::Trash { .. }
        | Mode::Judged { .. }
        | Mode::Pick { .. }
        | Mode::Search(_)
        | Mode::Past { .. } => false,
    }
}
