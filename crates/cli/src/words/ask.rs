//! How what an agent asks reads to a person, and how an answer does.

use glis_client::labels::doubt;
use glis_client::questions;
use glis_core::plain::in_sight;
use glis_core::talk::AskKind;
use glis_verbs::complaint::choices_of;
use glis_wire::view::{SessionRow, SessionView, WaitingFor};

/// Everything that is asked. Of several, an answer has to name the one that is meant.
pub(super) fn all(s: &SessionView) -> Option<String> {
    let [_, _, ..] = s.asks.as_slice() else {
        return s.waiting_for.as_ref().map(|ask| asks(&s.name, ask));
    };
    let each = s.asks.iter().map(|ask| {
        let (asks, request) = (asks(&s.name, ask), &ask.request);
        format!("{asks} with --request {request}")
    });
    Some(each.collect::<Vec<_>>().join("; "))
}

pub(super) fn before_pause(s: &SessionRow) -> Option<String> {
    let asked: Vec<_> = s.was_asking.iter().map(|ask| in_sight(&ask.text)).collect();
    (!asked.is_empty()).then(|| asked.join("; "))
}

/// The same, and why it cannot be answered.
pub(super) fn gone(s: &SessionView) -> Option<String> {
    before_pause(s).map(|asked| format!("{asked}  (gone with its process)"))
}

pub(crate) fn asks(name: &str, ask: &WaitingFor) -> String {
    let text = &format!("{}{}", in_sight(&ask.text), meanings(ask));
    match (ask.kind, ask.choices.as_deref()) {
        (AskKind::Doubt, _) => format!(
            "{} {text:?}  (glis answer {name} allow sends it again, deny drops it)",
            doubt(ask)
        ),
        (_, Some([])) => format!("{text}  (glis attach {name})"),
        (AskKind::Question, Some([no])) => {
            format!("{text}  (glis attach {name}, or glis answer {name} {no})")
        }
        (AskKind::Question, Some(choices)) => {
            format!("{text}  (glis answer {name} {})", choices_of(choices))
        }
        (AskKind::Approval, _) => format!("{text}  (glis answer {name} allow|deny)"),
        (AskKind::Question, None) => format!("{text}  (glis answer {name} TEXT)"),
    }
}

/// What the agent says of each answer that it offers.
fn meanings(ask: &WaitingFor) -> String {
    let all = questions(ask);
    let each = all.iter().flat_map(|question| {
        let several = question.takes_several.then(|| "; several may be chosen".to_owned());
        let about = question.options.iter().filter_map(|option| {
            Some(format!("; {}: {}", in_sight(option.label), in_sight(option.about?)))
        });
        about.chain(several)
    });
    each.collect()
}

pub(crate) fn answered(s: &SessionView) -> String {
    format!("answered; `{}` is {}", s.name, s.status.word())
}

/// What `answer` says if the question stays.
pub(crate) fn still_asks(s: &SessionView) -> String {
    format!("answer sent; `{}` still asks", s.name)
}
