//! Sessions, loops and plans that begin: the call, and the line that would be typed for it.

use glis_core::looping::{FAILURES_MAX, LoopContext, LoopSpec};
use glis_core::name::made_from;
use glis_core::plain::shell_word;
use glis_wire::client::{NewSession, Request};

const LOOP_LINE: &str = "glis loop";

pub(crate) fn new_session(wanted: NewSession) -> (Request, String) {
    let mut line = Line(if wanted.looped.is_some() { LOOP_LINE } else { "glis new" }.to_owned());
    // A loop's name has to be typed: until one is made from its words, this one stands for it.
    let made = || wanted.prompt.as_deref().and_then(made_from).unwrap_or_else(|| "NAME".to_owned());
    let name = wanted.name.clone().or_else(|| wanted.looped.is_some().then(made));
    line.say("", name.as_deref());
    line.say("--agent ", wanted.agent.as_deref());
    line.say("--persona ", wanted.persona.as_deref());
    line.say("--model ", wanted.model.as_deref());
    line.say("--prompt ", wanted.prompt.as_deref());
    line.say("--spec ", wanted.spec_file.as_deref());
    line.say("--base ", wanted.base.as_deref());
    if let Some(spec) = &wanted.looped {
        line.limits(spec);
    }
    line.say("--repo ", Some(&wanted.repo));
    let timeout = wanted.idle_timeout_secs.map(|secs| format!("{}m", secs / 60));
    line.say("--idle-timeout ", timeout.as_deref());
    line.say("--budget ", wanted.budget.as_deref());
    line.flag(wanted.auto_yes.then_some("--auto-yes"));
    line.flag(wanted.in_place.then_some("--in-place"));
    line.flag(wanted.headless.then_some("--headless"));
    line.flag(wanted.keep_process.then_some("--keep-process"));
    line.flag((wanted.remove_worktree == Some(true)).then_some("--remove-worktree-on-pause"));
    line.flag((wanted.remove_worktree == Some(false)).then_some("--keep-worktree-on-pause"));
    line.flag((!wanted.argv.is_empty()).then_some("--"));
    wanted.argv.iter().for_each(|word| line.say("", Some(word)));
    (Request::New(Box::new(wanted)), line.0)
}

/// A line that grows by what was wanted.
struct Line(String);

impl Line {
    fn say(&mut self, option: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.0 = format!("{} {option}{}", self.0, shell_word(value));
        }
    }

    fn flag(&mut self, flag: Option<&str>) {
        if let Some(flag) = flag {
            self.0 = format!("{} {flag}", self.0);
        }
    }

    fn limits(&mut self, spec: &LoopSpec) {
        self.say("--max ", spec.max.map(|max| max.to_string()).as_deref());
        self.say("--until ", spec.until.as_deref());
        self.flag((spec.context == LoopContext::Continue).then_some("--context continue"));
        self.flag(spec.auto_commit.then_some("--auto-commit"));
        self.say("--max-cost ", spec.max_cost_micros.map(in_dollars).as_deref());
        let failures = Some(spec.max_failures).filter(|most| *most != FAILURES_MAX);
        self.say("--max-failures ", failures.map(|most| most.to_string()).as_deref());
    }
}

/// Millionths of a dollar, as dollars are typed.
pub(super) fn in_dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A loop's line with the name that it got. Any other is returned as it is.
pub(crate) fn loop_line(line: &str, name: &str) -> String {
    let rest = line.strip_prefix(LOOP_LINE).and_then(|rest| rest.trim_start().split_once(' '));
    rest.map_or_else(|| line.to_owned(), |(_, rest)| format!("{LOOP_LINE} {name} {rest}"))
}
