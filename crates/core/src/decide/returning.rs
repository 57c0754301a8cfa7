//! Coming back: what the gate has stopped is resumed, and that is told once all of it is.

use super::start;
use crate::decision::Reply;
use crate::draft::{Admission, Draft};
use crate::gate::{Gate, GateEvent};
use crate::refusal::Refusal;
use crate::session::Phase;

/// Resumes the session in hand, which the gate has stopped. What cannot be resumed holds up nothing.
pub(crate) fn resume(draft: &mut Draft<'_>) -> Result<Reply, Refusal> {
    let former = std::mem::take(&mut draft.decision.reply);
    // It had a place before.
    draft.admission = Admission::Anyway;
    let resumed = resume_one(draft);
    let reply = std::mem::replace(&mut draft.decision.reply, former);
    if resumed.is_err() {
        let session = draft.session.id.clone();
        draft.house_event(GateEvent::Released { session });
    }
    resumed.map(|()| reply)
}

/// Resumes the session in hand, unless another one is at work in its folder.
fn resume_one(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    draft.check_place()?;
    let prompt = draft.session.continuation();
    start::resume(draft, prompt)
}

/// Tells that what was stopped has come back, as far as it has.
pub(crate) fn tell_resumed(draft: &mut Draft<'_>) {
    let Gate::Open { op, .. } = draft.gate else { return };
    let at_work = draft.stirring().filter(|session| session.phase == Phase::Live);
    let mut active: Vec<_> = at_work.map(|session| session.id.clone()).collect();
    active.sort();
    draft.house_event(GateEvent::Resumed { op, active });
}
