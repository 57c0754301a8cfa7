//! A pause goes on as soon as the agent may be stopped.

use crate::decide::pause::{Reached, begin_now, reach};
use crate::draft::Draft;
use crate::pause::{PauseReason, PauseStep, PauseWish};
use crate::reason::SafeRule;
use crate::session::Phase;

/// Goes on as soon as the agent's own signs, or its screen, say that it may be stopped.
pub(super) fn go_on_if_safe(draft: &mut Draft<'_>) {
    let Phase::Pausing(pause) = &draft.session.phase else { return };
    let op = pause.op;
    let cut = pause.step == PauseStep::Interrupting && draft.session.talk.cut_off;
    if matches!(pause.step, PauseStep::Boundary | PauseStep::Interrupting)
        && draft.session.runs()
        && let Some(rule) = draft.session.safe_rule()
    {
        let rule = if cut { SafeRule::TurnInterrupted } else { rule };
        reach(draft, op, rule, Reached::Safely);
    }
}

/// Begins a pause by itself, for this reason: whoever asked for something else is told of that.
pub(super) fn begin_by_itself(draft: &mut Draft<'_>, reason: PauseReason) {
    let (reply, op) = (draft.decision.reply.clone(), draft.new_op());
    begin_now(draft, op, PauseWish::plain(reason));
    draft.reply(reply);
}
