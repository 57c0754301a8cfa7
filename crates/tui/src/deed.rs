//! What a person does here: each is one call of the client, and the `glis …` line that does the same.

mod begun;
mod pausing;
mod reply;

use begun::in_dollars;
pub(crate) use begun::{loop_line, new_session};
use glis_core::input::IfRunning;
use glis_core::looping::LoopChange;
use glis_core::pause::{PauseMode, PauseReason};
use glis_core::plain::shell_word;
use glis_core::plan::Ruling;
use glis_core::spec::IdleLimit;
use glis_wire::client::{Action, Discard, PauseAll, Request, TrashAction};
use glis_wire::plan::PlanRequest;
pub(crate) use pausing::PauseWith;
pub(crate) use reply::Reply;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    Send {
        text: String,
        files: Vec<String>,
    },
    Pause(PauseWith),
    CancelPause,
    Resume {
        /// What it is told when it is back.
        prompt: Option<String>,
    },
    Restart {
        with_context: bool,
    },
    /// A task of a plan gets a new run.
    RestartTask {
        place: String,
        task: String,
    },
    /// What becomes of a task of a plan.
    RuleTask {
        place: String,
        task: String,
        ruling: Ruling,
    },
    Stop,
    Remove {
        running: IfRunning,
    },
    Answer {
        request: String,
        answer: Reply,
    },
    AutoYes {
        on: bool,
    },
    Snapshot,
    Compact,
    Acknowledge,
    Merge {
        /// None: the one that its work began from.
        branch: Option<String>,
        /// Whether the repository's hooks have a say.
        hooks: bool,
    },
    LimitIdle {
        limit: IdleLimit,
    },
    Label {
        words: Vec<String>,
    },
    Pin {
        on: bool,
    },
    Snooze {
        until: String,
    },
    Budget {
        budget: String,
    },
    Restore {
        snapshot: String,
    },
    CopySnapshot {
        snapshot: String,
        to: String,
    },
    SetLoop {
        change: LoopChange,
    },
    Undelete {
        name: Option<String>,
    },
    /// What is in the trash is deleted for good.
    Discard,
}

impl Deed {
    /// The call that does it. Sessions are named by their id, which stays.
    pub(crate) fn request(&self, id: &str) -> Request {
        let act = |action| Request::Act { session: id.to_owned(), action };
        match self {
            Self::Send { text, files } => {
                act(Action::Send { text: text.clone(), files: files.clone() })
            }
            Self::Pause(with) => act(with.action()),
            Self::CancelPause => act(Action::CancelPause),
            Self::Resume { prompt } => act(Action::Resume { prompt: prompt.clone() }),
            Self::Restart { with_context } => act(Action::Restart { with_context: *with_context }),
            Self::RestartTask { place, task } => {
                let (place, task) = (place.clone(), task.clone());
                Request::Plan(PlanRequest::Restart { place, task })
            }
            Self::RuleTask { place, task, ruling } => {
                let (place, task) = (place.clone(), task.clone());
                Request::Plan(PlanRequest::Rule { place, task, ruling: *ruling })
            }
            Self::Stop => act(Action::Stop),
            Self::Remove { running } => act(Action::Remove { running: *running }),
            Self::Answer { request, answer } => act(Action::Answer {
                ask: Some(request.clone()),
                answer: answer.word().to_owned(),
                reason: answer.reason(),
            }),
            Self::AutoYes { on } => act(Action::AutoYes { on: *on }),
            Self::Snapshot => act(Action::Snapshot),
            Self::Compact => act(Action::Compact),
            Self::Acknowledge => act(Action::Acknowledge),
            Self::LimitIdle { limit } => act(Action::LimitIdle { limit: *limit }),
            Self::Label { words } => act(Action::labels(words.iter().map(String::as_str))),
            Self::Pin { on } => act(Action::Pin { on: *on }),
            Self::Budget { budget } => act(Action::Budget { budget: budget.clone() }),
            Self::Snooze { until } => act(Action::Snooze { until: until.clone() }),
            Self::Restore { snapshot } => act(Action::Restore { snapshot: Some(snapshot.clone()) }),
            Self::SetLoop { change } => act(Action::SetLoop { change: change.clone() }),
            Self::CopySnapshot { snapshot, to } => Request::RestoreTo {
                session: id.to_owned(),
                snapshot: Some(snapshot.clone()),
                to: to.clone(),
            },
            Self::Merge { branch, hooks } => {
                let (session, into) = (id.to_owned(), branch.clone());
                Request::Merge { session, into, hooks: *hooks, place: None }
            }
            Self::Undelete { name } => {
                let action = TrashAction::Restore { name: name.clone() };
                Request::TrashAct { session: id.to_owned(), action }
            }
            Self::Discard => {
                Request::TrashAct { session: id.to_owned(), action: TrashAction::Empty }
            }
        }
    }

    /// What would be typed to do the same.
    pub(crate) fn line(&self, name: &str) -> String {
        let name = shell_word(name);
        match self {
            Self::Send { text, files } => {
                let files = files.iter().map(|file| format!(" --file {}", shell_word(file)));
                format!("glis send {name} {}{}", shell_word(text), files.collect::<String>())
            }
            Self::Pause(with) => format!("glis pause {name}{}", with.typed()),
            Self::CancelPause => format!("glis pause {name} --cancel"),
            Self::Resume { prompt: None } => format!("glis resume {name}"),
            Self::Resume { prompt: Some(prompt) } => {
                format!("glis resume {name} --prompt {}", shell_word(prompt))
            }
            Self::Restart { with_context: false } => format!("glis restart {name} --yes"),
            Self::Restart { with_context: true } => {
                format!("glis restart {name} --with-context --yes")
            }
            Self::RestartTask { task, .. } => format!("glis restart {} --yes", shell_word(task)),
            Self::RuleTask { task, ruling, .. } => {
                format!("glis {} {}", ruling.word(), shell_word(task))
            }
            Self::Stop => format!("glis stop {name}"),
            Self::Remove { running: IfRunning::Stop } => format!("glis rm {name} --stop"),
            Self::Remove { running: IfRunning::Refuse } => format!("glis rm {name}"),
            Self::Answer { request, answer } => {
                format!("glis answer {name} {} --request {}", answer.typed(), shell_word(request))
            }
            Self::AutoYes { on: true } => format!("glis auto-yes {name} on"),
            Self::AutoYes { on: false } => format!("glis auto-yes {name} off"),
            Self::Snapshot => format!("glis snapshot {name}"),
            Self::Compact => format!("glis compact {name}"),
            Self::Acknowledge => format!("glis acknowledge {name}"),
            Self::Merge { branch, hooks } => {
                let into =
                    branch.as_deref().map(|branch| format!(" --into {}", shell_word(branch)));
                let hooks = if *hooks { " --hooks" } else { "" };
                format!("glis merge {name}{}{hooks}", into.unwrap_or_default())
            }
            Self::LimitIdle { limit } => format!("glis timeout {name} {}", minutes(*limit)),
            Self::Label { words } => {
                let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
                format!("glis label {name} {}", words.join(" "))
            }
            Self::Pin { on } => format!("glis pin {name}{}", if *on { "" } else { " --off" }),
            Self::Budget { budget } => format!("glis budget {name} {}", shell_word(budget)),
            Self::Snooze { until } => format!("glis snooze {name} {}", shell_word(until)),
            Self::Restore { snapshot } => {
                format!("glis restore {name} --snapshot {}", shell_word(snapshot))
            }
            Self::CopySnapshot { snapshot, to } => {
                format!(
                    "glis restore {name} --snapshot {} --to {}",
                    shell_word(snapshot),
                    shell_word(to)
                )
            }
            Self::SetLoop { change } => format!("glis loop {name}{}", settings(change)),
            Self::Undelete { name: None } => format!("glis trash restore {name}"),
            Self::Undelete { name: Some(new) } => {
                format!("glis trash restore {name} --name {}", shell_word(new))
            }
            Self::Discard => format!("glis trash empty {name} --yes"),
        }
    }

    /// Words of a person that are in it: they must not be lost with it.
    pub(crate) fn words(&self) -> Option<&str> {
        if let Self::Send { text, .. }
        | Self::Resume { prompt: Some(text) }
        | Self::Answer { answer: Reply::Words(text) | Reply::DenyBecause(text), .. } = self
        {
            return Some(text);
        }
        None
    }

    /// What is said on its row while it is under way.
    pub(crate) fn doing(&self) -> &'static str {
        match self {
            Self::Send { .. } => "sending",
            Self::Pause(_) => "PAUSING...",
            Self::CancelPause => "cancelling the pause",
            Self::Resume { .. } => "resuming",
            Self::Restart { .. } | Self::RestartTask { .. } => "restarting",
            Self::RuleTask { .. } => "seeing to its task",
            Self::Stop => "stopping",
            Self::Remove { .. } => "moving it to the trash",
            Self::Answer { .. } => "answering",
            Self::AutoYes { .. } => "setting auto-yes",
            Self::Snapshot => "saving the worktree",
            Self::Compact => "summing up",
            Self::Acknowledge => "acknowledging",
            Self::Merge { .. } => "merging",
            Self::LimitIdle { .. } => "setting its timeout",
            Self::Label { .. } => "setting its labels",
            Self::Pin { .. } => "pinning",
            Self::Snooze { .. } => "snoozing",
            Self::Budget { .. } => "setting its budget",
            Self::Restore { .. } => "restoring its files",
            Self::CopySnapshot { .. } => "copying a snapshot",
            Self::SetLoop { .. } => "changing its iterations",
            Self::Undelete { .. } => "taking it out of the trash",
            Self::Discard => "deleting it",
        }
    }

    /// What is said once it is done.
    pub(crate) fn done(&self, name: &str) -> String {
        match self {
            Self::Send { .. } => format!("sent to `{name}`"),
            Self::Pause(_) => format!("`{name}` is paused"),
            Self::CancelPause => format!("the pause of `{name}` was cancelled"),
            Self::Resume { .. } => format!("`{name}` is back"),
            Self::Restart { .. } => {
                format!("`{name}` began a fresh conversation")
            }
            Self::RestartTask { task, .. } => {
                format!("task {task} has a new run; `{name}` stays as it is")
            }
            Self::RuleTask { task, ruling, .. } => format!("task {task} {}", ruling.means()),
            Self::Stop => format!("`{name}` is suspended; the next message wakes it"),
            Self::Remove { .. } => format!("`{name}` is in the trash"),
            Self::Answer { answer, .. } => format!("`{name}`: {}", answer.past()),
            Self::AutoYes { on: true } => format!("auto-yes on for `{name}`"),
            Self::AutoYes { on: false } => format!("auto-yes off for `{name}`"),
            Self::Snapshot => format!("the worktree of `{name}` is saved"),
            Self::Compact => format!("the conversation of `{name}` is summed up"),
            Self::Acknowledge => format!("`{name}` is acknowledged"),
            Self::Merge { .. } => format!("the work of `{name}` is merged"),
            Self::LimitIdle { limit: IdleLimit::Never } => format!("`{name}` is never suspended"),
            Self::LimitIdle { limit } => {
                format!("`{name}` is suspended after {} idle minutes", minutes(*limit))
            }
            Self::Label { .. } => format!("the labels of `{name}` are set"),
            Self::Pin { on: true } => format!("`{name}` is pinned"),
            Self::Pin { on: false } => format!("`{name}` is not pinned any more"),
            Self::Budget { .. } => format!("the budget of `{name}` is set, and counts from now on"),
            Self::Snooze { until } if until == "off" => format!("`{name}` is awake"),
            Self::Snooze { .. } => format!("`{name}` is snoozed: it needs nobody, and goes on"),
            Self::Restore { .. } => format!("the files of `{name}` are restored"),
            Self::CopySnapshot { to, .. } => format!("a copy of `{name}` is in {to}"),
            Self::SetLoop { change } => match change.max {
                Some(Some(max)) => format!("`{name}`: {max} iterations at most"),
                Some(None) => format!("`{name}` goes round as often as it takes"),
                None => format!("`{name}`:{}", settings(change).replace(" --set", "")),
            },
            Self::Undelete { name: new } => {
                format!("`{}` is back from the trash", new.as_deref().unwrap_or(name))
            }
            Self::Discard => format!("`{name}` is deleted for good"),
        }
    }

    /// What it is called and what undoes it, where something does.
    pub(crate) fn undone(&self) -> Option<(&'static str, Self)> {
        match self {
            Self::Pause(_) => Some(("pause", Self::Resume { prompt: None })),
            Self::Stop => Some(("stop", Self::Resume { prompt: None })),
            Self::Resume { .. } => Some(("resume", Self::Pause(PauseWith::PLAIN))),
            Self::Remove { .. } => Some(("removal", Self::Undelete { name: None })),
            Self::Undelete { .. } => {
                Some(("return from the trash", Self::Remove { running: IfRunning::Refuse }))
            }
            Self::AutoYes { on } => Some(("change of auto-yes", Self::AutoYes { on: !on })),
            Self::Pin { on } => Some(("pin", Self::Pin { on: !on })),
            Self::Snooze { until } if until != "off" => {
                Some(("snooze", Self::Snooze { until: "off".to_owned() }))
            }
            _ => None,
        }
    }

    /// The question before it is done, where it is asked.
    pub(crate) fn question(&self, name: &str) -> Option<String> {
        match self {
            Self::Restart { .. } => {
                Some(format!("Begin a fresh conversation in `{name}`? Its files stay."))
            }
            Self::RestartTask { task, .. } => Some(format!(
                "Begin task {task} anew? It gets a new run in a worktree of its own; `{name}` and its files stay."
            )),
            Self::RuleTask { task, ruling, .. } => Some(match ruling {
                Ruling::Accept => format!("Merge the work of task {task} as it is?"),
                Ruling::Judge => format!("Judge the work of task {task} again?"),
                Ruling::Reject => format!("Reject the work of task {task}? What needs it waits."),
                Ruling::Skip => format!("Skip task {task}? What needs it goes on without it."),
            }),
            Self::AutoYes { on: true } => Some(format!(
                "Have rules allow what `{name}` asks, where they know it? You are asked the rest."
            )),
            Self::Remove { running: IfRunning::Stop } => {
                Some(format!("Stop `{name}` and move it to the trash? Nothing is deleted."))
            }
            Self::Remove { running: IfRunning::Refuse } => {
                Some(format!("Move `{name}` to the trash? Nothing is deleted."))
            }
            Self::Discard => Some(format!("Delete `{name}` for good? This cannot be undone.")),
            Self::Stop => Some(format!("End the process of `{name}`? Its turn is cut off.")),
            Self::Merge { .. } => Some(format!("Commit the work of `{name}` and merge it?")),
            Self::Restore { snapshot } => Some(format!(
                "Put the files of `{name}` back to snapshot {snapshot}? What is in the way is saved first."
            )),
            Self::Pause(with) => with.question(name),
            _ => None,
        }
    }
}

fn minutes(limit: IdleLimit) -> String {
    match limit {
        IdleLimit::Secs(secs) => (secs / 60).to_string(),
        IdleLimit::Never | IdleLimit::Usual => "off".to_owned(),
    }
}

/// Changed limits of a loop, as they are typed.
fn settings(change: &LoopChange) -> String {
    let LoopChange { max, max_cost_micros, max_failures, until } = change;
    let none = || "none".to_owned();
    let given = [
        max.map(|max| ("max", max.map_or_else(none, |max| max.to_string()))),
        max_cost_micros.map(|cost| ("max-cost", cost.map_or_else(none, in_dollars))),
        max_failures.map(|most| ("max-failures", most.to_string())),
        until.as_ref().map(|line| ("until", line.clone().unwrap_or_else(none))),
    ];
    given.into_iter().flatten().fold(String::new(), |line, (limit, value)| {
        format!("{line} --set {}", shell_word(&format!("{limit}={value}")))
    })
}

pub(crate) fn pause_all() -> (Request, String) {
    let (mode, reason) = (PauseMode::Boundary, PauseReason::User);
    let all = PauseAll { mode, on_timeout: None, clearing: None, reason };
    (Request::PauseAll(all), "glis pause --all".to_owned())
}

/// By the event log, where the list of what was stopped is damaged.
pub(crate) fn resume_all(from_log: bool) -> (Request, String) {
    let by = if from_log { " --from-log" } else { "" };
    (Request::ResumeAll { from_log }, format!("glis resume --all{by}"))
}

/// The call that deletes what is past its deadline.
pub(crate) fn empty_trash() -> (Request, String) {
    (Request::TrashEmpty { which: Discard::Due }, "glis trash empty".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_core::pause::OnTimeout;
    use glis_core::tree::Clearing;

    #[test]
    fn a_line_does_the_same_as_the_key() {
        let lines = [
            (Deed::Pause(PauseWith::PLAIN), "glis pause blue"),
            (
                Deed::Send { text: "it's done?".to_owned(), files: Vec::new() },
                "glis send blue 'it'\\''s done?'",
            ),
            (Deed::Remove { running: IfRunning::Stop }, "glis rm blue --stop"),
            (
                Deed::Pause(PauseWith { clearing: Some(Clearing::Keep), ..PauseWith::USUAL }),
                "glis pause blue --keep-worktree",
            ),
            (
                Deed::Pause(PauseWith {
                    mode: Some(PauseMode::Boundary),
                    on_timeout: Some(OnTimeout::Force),
                    for_secs: Some(60),
                    clearing: Some(Clearing::Always),
                }),
                "glis pause blue --mode boundary --on-timeout force --remove-worktree --force --for 60s",
            ),
            (
                Deed::Answer { request: "r1".to_owned(), answer: Reply::AllowForSession },
                "glis answer blue allow --for-session --request r1",
            ),
        ];
        for (deed, line) in lines {
            assert_eq!(deed.line("blue"), line);
        }
    }

    #[test]
    fn what_is_undone_twice_is_as_before() {
        for deed in [
            Deed::Pause(PauseWith::PLAIN),
            Deed::Resume { prompt: None },
            Deed::AutoYes { on: true },
            Deed::Undelete { name: None },
        ] {
            let back = deed.undone().and_then(|(_, inverse)| inverse.undone());
            assert!(back.is_some(), "{deed:?}");
        }
        assert_eq!(Deed::Restart { with_context: false }.undone(), None);
    }
}
