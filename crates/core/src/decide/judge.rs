//! Answers by rule: a verdict counts for the very question that was judged, once, and while a person
//! has not answered it.

use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::AskId;
use crate::run::Run;
use crate::session::Phase;
use crate::talk::{ALLOW, Ask, DENY};
use crate::timer::{Span, TimerKey, When};
use crate::verdict::{Answerer, Unruled, Verdict};

/// So often in a row the rules answer the very same within a turn. An agent that tests, mends and tests
/// again has something else to ask in between, or is done; one that asks the same for ever, and a program
/// that takes no answer for one, would go on all night.
const SAME_MAX: u32 = 20;

/// Whether questions are answered by rules, from now on and of those that are open.
pub(super) fn set(draft: &mut Draft<'_>, on: bool) {
    if draft.session.spec.auto_yes == on {
        draft.reply(Reply::Already);
    } else {
        draft.event(Event::AutoYesSet { on });
    }
}

/// Has the rules judge what they have not judged yet. If they say nothing in time, or what they say
/// does not reach the agent, a person is asked.
pub(super) fn judge(draft: &mut Draft<'_>, which: impl Fn(&Ask) -> bool) {
    let open = draft.session.asked().iter().filter(|ask| waits(ask) && which(ask));
    let open: Vec<Ask> = open.cloned().collect();
    if open.is_empty() {
        return;
    }
    // One timer for all: a later question does not give an earlier one more time.
    let others = draft.session.asked().iter().filter(|ask| ask.answerer == Answerer::Rules).count();
    if others == open.len() {
        draft.timer(TimerKey::Verdict, When::After(Span::Verdict));
    }
    let generation = draft.session.agent.generation;
    for ask in open {
        draft.effect(Effect::Judge { generation, ask });
    }
}

/// Whether the rules have yet to say something about it.
fn waits(ask: &Ask) -> bool {
    ask.answerer == Answerer::Rules && !ask.answering
}

/// The rules have said something. What was answered, changed or withdrawn meanwhile stays as it is.
pub(super) fn judged(draft: &mut Draft<'_>, judged: &Ask, verdict: Verdict) {
    let open = draft.session.asked().iter().find(|ask| waits(ask) && ask.is_same(judged));
    let Some(ask) = open.cloned() else { return };
    let verdict = applicable(draft, &ask, verdict);
    let answer = match &verdict {
        Verdict::Accept { .. } => Some(ALLOW),
        Verdict::Reject { .. } => Some(DENY),
        Verdict::Manual { .. } => None,
    };
    draft.event(Event::AskJudged { ask: ask.id.clone(), text: ask.text.clone(), verdict });
    if let Some(answer) = answer.map(str::to_owned) {
        super::ask::give(draft, ask, answer, None);
    }
}

fn is_repeated(run: &Run, ask: &Ask) -> bool {
    run.answered_in_a_row(&ask.text) >= SAME_MAX
}

/// A verdict that cannot be carried out is left to a person.
fn applicable(draft: &Draft<'_>, ask: &Ask, verdict: Verdict) -> Verdict {
    let answer = match &verdict {
        Verdict::Accept { .. } => ALLOW,
        Verdict::Reject { .. } => DENY,
        Verdict::Manual { .. } => return verdict,
    };
    if draft.session.phase != Phase::Live {
        Verdict::manual(Unruled::NotLive)
    } else if !ask.takes(answer) {
        Verdict::manual(Unruled::NoSuchAnswer)
    } else if draft.session.run.as_ref().is_some_and(|run| is_repeated(run, ask)) {
        Verdict::manual(Unruled::Repeated)
    } else {
        verdict
    }
}

/// Whatever the rules have not brought to an end in time is left to a person.
pub(super) fn time_is_up(draft: &mut Draft<'_>) {
    let late = draft.session.asked().iter().filter(|ask| ask.answerer == Answerer::Rules);
    for ask in late.cloned().collect::<Vec<_>>() {
        let verdict = Verdict::manual(Unruled::Overdue);
        draft.event(Event::AskJudged { ask: ask.id, text: ask.text, verdict });
    }
}

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
        judge(draft, |ask| all || fresh.contains(&ask.id));
    }
}

fn asked(event: &Event) -> Option<&AskId> {
    if let Event::Asked { ask, .. } = event { Some(&ask.id) } else { None }
}
