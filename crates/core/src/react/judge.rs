//! What an agent asks is judged by the rules as soon as it is asked, where the user has allowed that.

use crate::decide::judge;
use crate::draft::Draft;
use crate::event::Event;
use crate::ids::AskId;

/// Judges what this decision has left to the rules: what was just asked, or all that is open once
/// they are switched on.
pub(super) fn what_is_asked(draft: &mut Draft<'_>) {
    let (mut fresh, mut all) = (Vec::<AskId>::new(), false);
    for event in draft.own_events() {
        match asked(event) {
            Some(id) => fresh.push(id.clone()),
            None => all |= matches!(event, Event::AutoYesSet { on: true }),
        }
    }
    if all || !fresh.is_empty() {
        judge::judge(draft, |ask| all || fresh.contains(&ask.id));
    }
}

fn asked(event: &Event) -> Option<&AskId> {
    if let Event::Asked { ask, .. } = event { Some(&ask.id) } else { None }
}
