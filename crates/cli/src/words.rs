//! How things read to a person. No other place in glis has words for a screen.

pub(crate) mod ask;
mod companions;
mod costs;
pub(crate) mod gate;
mod house;
mod idle;
pub(crate) mod keep;
pub(crate) mod limits;
pub(crate) mod looped;
pub(crate) mod plan;
mod resting;
mod said;
mod usage_limit;

pub(crate) use costs::{agents, costs};
pub(crate) use house::{daemon, given_back, unregistered};
pub(crate) use idle::{idle_timeout, idle_timeout_set};
pub(crate) use resting::resting;
pub(crate) use said::{entry, hits};

use crate::width::{shortened, width as width_of};
use anstyle::{AnsiColor, Style};
use companions::{companions, listed};
use glis_client::labels::{self, CUT_OFF, Tone, ago, mark, state, tone, unstarted, until};
use glis_core::Status;
use glis_core::plain::in_sight;
pub(crate) use glis_core::plain::plain;
use glis_core::reason::SafeRule;
use glis_core::session::FAILED_STARTS_MAX;
use glis_core::spec::Mode;
use glis_core::talk::AskKind;
use glis_wire::view::{BudgetView, Finding, Health, SessionRow, SessionView, Used};
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;

fn style(status: Status) -> Style {
    match tone(status) {
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Calm => AnsiColor::Cyan.on_default(),
        Tone::Attention => AnsiColor::Yellow.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
        Tone::Faint => Style::new().dimmed(),
    }
}

fn coloured() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
}

/// That some have rested for so long that `ls` leaves them out.
pub(crate) fn more(more: usize) -> String {
    format!("{more} more at rest; `glis ls --all` lists them")
}

/// What `ls` prints.
pub(crate) fn table(sessions: &[SessionRow]) -> String {
    if sessions.is_empty() {
        return "No sessions found. Use `glis new NAME` to create one.".to_owned();
    }
    let colours = coloured();
    let head = ["NAME", "STATUS", "AGENT", "BRANCH", "QUEUED", "ACTIVE", "MEMORY", "NOTE"];
    let rows: Vec<[String; 8]> = sessions
        .iter()
        .map(|s| {
            [
                s.name.clone(),
                format!("{} {}", mark(s.status), state(s)),
                if s.auto_yes { format!("{}, auto-yes", s.agent) } else { s.agent.clone() },
                branch(s).unwrap_or_else(|| "-".to_owned()),
                if s.queued == 0 { "-".to_owned() } else { s.queued.to_string() },
                ago(&s.last_active_at),
                s.memory_bytes.map_or_else(|| "-".to_owned(), house::amount),
                note(s),
            ]
        })
        .collect();
    let mut widths: [usize; 8] = head.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(width_of(cell));
        }
    }
    let line = |cells: &[String; 8], status: Option<Status>| {
        let mut text = String::new();
        for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let pad = if at == 7 { 0 } else { width - width_of(cell) + 2 };
            match status.filter(|_| colours && at == 1) {
                Some(status) => {
                    let style = style(status);
                    let _ = write!(text, "{style}{cell}{style:#}");
                }
                None => text.push_str(cell),
            }
            text.push_str(&" ".repeat(pad));
        }
        text.trim_end().to_owned()
    };
    let mut lines = vec![line(&head.map(ToOwned::to_owned), None)];
    lines.extend(sessions.iter().zip(&rows).map(|(s, row)| line(row, Some(s.status))));
    lines.join("\n")
}

/// The branch, and that the worktree is not on it if so.
fn branch(s: &SessionRow) -> Option<String> {
    let detached = if s.detached.is_some() { " (detached)" } else { "" };
    s.branch.as_ref().map(|branch| format!("{branch}{detached}"))
}

/// As wide as a note may be: with the other columns it fits beside most of them on one line.
const NOTE_COLUMNS: usize = 60;

fn note(session: &SessionRow) -> String {
    let was_asking = ask::before_pause(session).map(|asked| format!("was asking: {asked}"));
    let cut_off = (session.status == Status::Idle && session.cut_off).then(|| CUT_OFF.to_owned());
    let broken = (session.status == Status::Interrupted).then_some(&session.verdict);
    let failure = session.failure.as_ref().or(was_asking.as_ref()).or(broken);
    let failure = failure.or(cut_off.as_ref());
    let barred = session.barred.as_ref().map(|bar| format!("barred, glis acknowledge: {bar}"));
    let waits = gate::waits(session).filter(|_| !gate::holds(session));
    let waits = waits.map(|why| format!("waits to start: {why}"));
    let draft = || session.draft.then(|| format!("draft in the way: glis attach {}", session.name));
    let elsewhere = || session.elsewhere.as_ref().map(|e| format!("works in {}", e.folder));
    let held = barred.or(waits).or_else(draft).or_else(elsewhere).or_else(|| plan::note(session));
    let failure = held.as_ref().or(failure);
    let text = match (&session.waiting_for, failure, &session.last_action) {
        (Some(ask), _, _) if ask.kind == AskKind::Doubt => format!("taken? {}", ask.text),
        (Some(ask), _, _) => in_sight(&ask.text),
        (None, Some(why), _) => why.clone(),
        (None, None, Some(action)) => action.clone(),
        (None, None, None) => String::new(),
    };
    let text = match looped::note(session) {
        Some(own) if text.is_empty() => own,
        Some(own) => format!("{own}; {text}"),
        None => text,
    };
    let put = labels::triage(session).into_iter().chain(labels::nearly_used(session));
    let put = put
        .reduce(|put, share| format!("{put} {share}"))
        .map(|put| if text.is_empty() { put } else { format!("{put}; {text}") });
    let text = plain(&put.unwrap_or(text));
    let suspends = session.suspend_at.as_ref().map(|at| format!("suspended in {}", until(at)));
    let resumes = session.resume_at.as_ref().map(|at| format!("resumes in {}", until(at)));
    let Some(next) = resumes.or_else(|| usage_limit::stays(session)).or(suspends) else {
        return shortened(&text, NOTE_COLUMNS);
    };
    // It is what the session is about to do, and must not be cut off.
    let room = NOTE_COLUMNS.saturating_sub(next.len() + 3);
    if text.is_empty() { next } else { format!("{} ({next})", shortened(&text, room)) }
}

fn title(s: &SessionView) -> String {
    let put = labels::triage(s).map_or_else(String::new, |put| format!("  {put}"));
    format!("{} {} ({}){put}", mark(s.status), s.name, state(s))
}

/// What `show` prints.
#[expect(clippy::too_many_lines, reason = "every fact is named once")]
pub(crate) fn whole(s: &SessionView) -> String {
    let mut lines = vec![title(s)];
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push(format!("  {name:<14}{}", plain(&value)));
        }
    };
    fact("why", Some(s.verdict.clone()));
    fact("under way", s.operation.clone().or_else(|| gate::waits(s)));
    fact(if s.task.is_some() { "task" } else { "loop" }, looped::whole(s).or(plan::task(s)));
    fact("tasks", looped::counts(s));
    fact("asks", ask::all(s));
    fact("was asking", ask::gone(s));
    fact("failed", s.failure.clone());
    fact("id", Some(s.id.clone()));
    fact("agent", Some(agent(s)));
    fact("persona", s.persona.clone());
    fact("permissions", s.permission_mode.clone());
    fact("agent's id", s.agent_session_ref.clone());
    fact("former ids", (!s.former_refs.is_empty()).then(|| s.former_refs.join(", ")));
    fact("resumable", Some(if s.resumable { "yes" } else { "no" }.to_owned()));
    fact("command", (!s.argv.is_empty()).then(|| s.argv.join(" ")));
    fact("repository", Some(s.repo_root.clone()));
    fact("worktree", worktree(s));
    fact("branch", branch(s));
    fact("detached", s.detached.as_ref().map(keep::detached));
    fact("process", s.pid.map(|pid| format!("{pid}, start {} of this session", s.generation)));
    fact("memory", s.memory_bytes.map(house::amount));
    fact("attached", (s.attached > 0).then(|| s.attached.to_string()));
    fact("created", Some(s.created_at.clone()));
    fact("last active", Some(s.last_active_at.clone()));
    fact("last viewed", s.last_accessed_at.clone());
    fact("paused", s.paused_at.clone());
    fact("resumes", usage_limit::resumes(s));
    fact(
        if s.pause_rule.as_ref().is_some_and(SafeRule::is_forced) {
            "stopped"
        } else {
            "safe because"
        },
        rule(s),
    );
    fact("resumed", s.resumed_at.clone());
    fact("snapshot", s.snapshot.as_ref().map(|snapshot| snapshot.name.clone()));
    fact("not saved", s.unsaved.clone());
    fact("set-up", (!s.setup_notes.is_empty()).then(|| s.setup_notes.join("; ")));
    fact("found", s.found.as_ref().and_then(keep::found));
    fact("restored", s.restored.as_ref().map(|r| format!("from {}", r.snapshot.name)));
    fact("queued", (s.queued > 0).then(|| s.queued.to_string()));
    fact("cut off", s.cut_off.then(|| "its process ended in the middle of a turn".to_owned()));
    fact("compacted", s.compacted_at.clone());
    fact("used", s.cost.map(used));
    fact(
        "budget",
        s.budget.as_ref().map(|budget| format!("{}  ({})", budget.allowed, budget.used)),
    );
    fact("limit", usage_limit::reached(s));
    fact("ended with it", companions(&s.ended_processes));
    fact("still there", companions(&s.stuck_processes));
    fact("process", s.process_kept.then(|| keep::process(s)));
    fact("left running", companions(&s.kept_processes));
    fact("warnings", (!s.warnings.is_empty()).then(|| s.warnings.join("; ")));
    fact(
        "output lost",
        s.output_gap_at.map(|at| format!("from offset {at} on, the disk was full")),
    );
    fact("record", s.record_damaged.then(|| damaged(&s.name)));
    fact("barred", s.barred.as_ref().map(|bar| barred(&s.name, bar)));
    fact("failed starts", (s.failed_starts > 0).then(|| failed_starts(s)));
    fact("summary", s.conversation_summary.clone());
    fact("last action", s.last_action.clone());
    fact("saying", s.saying.as_ref().map(|words| shortened(words, NOTE_COLUMNS)));
    fact("pending", (!s.pending_tasks.is_empty()).then(|| s.pending_tasks.join("; ")));
    fact("idle timeout", Some(idle::whole(s)));
    fact("auto-yes", s.auto_yes.then(|| ruled(&s.name)));
    lines.join("\n")
}

fn ruled(name: &str) -> String {
    format!(
        "on: rules answer for you  (glis auto-yes log {name} lists what; glis auto-yes {name} off)"
    )
}

fn worktree(s: &SessionView) -> Option<String> {
    let removed = if s.worktree_removed { " (removed; a resume brings it back)" } else { "" };
    let elsewhere = s.elsewhere.as_ref().map(keep::elsewhere).unwrap_or_default();
    s.worktree.as_ref().map(|path| format!("{path}{removed}{elsewhere}"))
}

fn damaged(name: &str) -> String {
    format!("damaged, events may be missing  (glis acknowledge {name} clears this)")
}

fn barred(name: &str, bar: &str) -> String {
    format!("{bar}; it is not tried again  (glis acknowledge {name} allows it)")
}

/// How far the budget of the day is used.
pub(crate) fn day(day: &BudgetView) -> String {
    format!("today {} of `[budget] day` is used", day.used)
}

fn used(used: Used) -> String {
    let Used { tokens_in, tokens_out, usd, window_percent } = used;
    let cost = usd.map_or(String::new(), |dollars| format!(", ${dollars:.4}"));
    let window = window_percent.map(|used| format!(", {used}% of the vendor's window"));
    format!("{tokens_in} tokens in, {tokens_out} out{cost}{}", window.unwrap_or_default())
}

fn failed_starts(s: &SessionView) -> String {
    let times = s.failed_starts;
    if times < FAILED_STARTS_MAX {
        return format!("{times} in a row");
    }
    format!("{times} in a row; messages no longer start it, `glis resume {}` does", s.name)
}

fn agent(s: &SessionView) -> String {
    let mode = match s.mode {
        Mode::Terminal => "terminal",
        Mode::Headless => "headless",
    };
    match &s.model {
        Some(model) => format!("{} ({mode}, {model})", s.agent),
        None => format!("{} ({mode})", s.agent),
    }
}

/// What `new` says.
pub(crate) fn created(s: &SessionView, notes: &[String]) -> String {
    let place = s.worktree.as_deref().unwrap_or("-");
    let branch = s.branch.as_ref().map_or(String::new(), |branch| format!(" on branch {branch}"));
    let next = match s.status {
        Status::Created if s.waits_to_start.is_some() => gate::waits(s).unwrap_or_default(),
        Status::Created => format!("`glis send {} TEXT` starts it", s.name),
        Status::Completed | Status::Failed => format!("`glis screen {}` shows its end", s.name),
        _ => match s.mode {
            Mode::Terminal => format!("`glis attach {}` shows its terminal", s.name),
            Mode::Headless => format!("`glis log {} --follow` shows what is said", s.name),
        },
    };
    let (name, status, agent) = (&s.name, s.status.word(), &s.agent);
    let mut lines = vec![format!("`{name}` is {status}: {agent} in {place}{branch}")];
    lines.extend(s.setup_notes.iter().map(|note| format!("warning: {}", plain(note))));
    lines.extend(warnings(s));
    lines.extend(notes.iter().map(|note| format!("note: {}", plain(note))));
    lines.push(next);
    lines.join("\n")
}

pub(crate) fn acknowledged(s: &SessionView) -> String {
    format!("noted; `{}` is no longer flagged", s.name)
}

/// What `attach` says where nothing takes keys.
pub(crate) fn keys_unwanted(s: &SessionView) -> String {
    format!(
        "`{}` is headless: keys are not sent to it; ctrl+q detaches, `glis send` sends a message",
        s.name
    )
}

/// What `wait` says.
pub(crate) fn is(s: &SessionView) -> String {
    format!("`{}` is {}", s.name, s.status.word())
}

pub(crate) fn already(s: &SessionView) -> String {
    format!("`{}` is {} already", s.name, s.status.word())
}

pub(crate) fn paused(s: &SessionView) -> String {
    let rule = match (&s.pause_rule, rule(s)) {
        (Some(kept), Some(rule)) if kept.is_forced() => format!(" {}", plain(&rule)),
        (_, Some(rule)) => format!(" ({})", plain(&rule)),
        (_, None) => String::new(),
    };
    let mut lines = vec![format!("`{}` is paused{rule}", s.name)];
    // Where nothing ran, this pause has ended nothing; the list is that of an earlier stop.
    if !s.killed.is_empty() && s.pause_rule != Some(SafeRule::NothingRuns) {
        lines.extend(listed("ended with it", &s.ended_processes));
    }
    lines.extend(listed("left running, as configured", &s.kept_processes));
    lines.extend(s.process_kept.then(|| format!("its process is {}", keep::process(s))));
    if s.worktree_removed {
        lines.push("its worktree is removed; a resume brings it back".to_owned());
    }
    lines.extend(warnings(s));
    lines.extend(s.resume_at.as_ref().map(|at| format!("It resumes by itself at {at}")));
    let what = if gate::holds(s) { "glis resume --all".to_owned() } else { back(s) };
    lines.push(format!("Resume with: {}", what.replace('`', "")));
    lines.join("\n")
}

/// Why it was stopped where it was.
fn rule(s: &SessionView) -> Option<String> {
    s.pause_rule.as_ref().map(|rule| {
        if rule.is_forced() { format!("without a safe state ({rule})") } else { rule.to_string() }
    })
}

pub(crate) fn resumed(s: &SessionView) -> String {
    if let Some(why) = gate::waits(s) {
        return format!("`{}` waits to start: {why}", s.name);
    }
    let how = match (looped::resumed(s), &s.agent_session_ref, s.agent.as_str()) {
        (Some(how), _, _) => how,
        (None, None, _) if s.went_on => "its process goes on where it was stopped".to_owned(),
        (None, Some(id), _) => format!("in its own conversation {id}"),
        (None, None, "command") => "its command was started again in the same place".to_owned(),
        (None, None, _) => "no message had been sent; it starts a new conversation".to_owned(),
    };
    let first = format!("`{}` is {}: {how}", s.name, s.status.word());
    let found = s.found.as_ref().and_then(keep::found);
    std::iter::once(first).chain(found).chain(warnings(s)).collect::<Vec<_>>().join("\n")
}

pub(crate) fn restarted(s: &SessionView) -> String {
    let mut lines = vec![is(s) + &format!(": a fresh start, number {}", s.generation)];
    lines.extend(warnings(s));
    lines.join("\n")
}

/// What is odd about a session, a line each.
fn warnings(s: &SessionView) -> impl Iterator<Item = String> {
    s.warnings.iter().map(|warning| format!("warning: {}", plain(warning)))
}

/// What `stop` says.
pub(crate) fn stopped(s: &SessionView) -> String {
    let told = format!("`{}` is {}; {} brings it back", s.name, s.status.word(), back(s));
    std::iter::once(told).chain(warnings(s)).collect::<Vec<_>>().join("\n")
}

/// What `rm` says.
pub(crate) fn removed(s: &SessionView, place: &Path, stays: Option<&str>) -> String {
    let branch = s.branch.as_ref().map_or(String::new(), |b| format!("; branch {b} stays"));
    let worktree = stays.map_or(String::new(), |path| format!("; its worktree stays in {path}"));
    format!(
        "`{}` is in the trash, {}{branch}{worktree}\n`glis trash restore {0}` brings it back",
        s.name,
        place.display()
    )
}

/// What `send` says: where the message is, and what it waits for.
pub(crate) fn queued(
    s: &SessionView,
    before: usize,
    status: Status,
    idle_secs: Option<u64>,
) -> String {
    let stored = stored(s, before, status, idle_secs);
    match s.waiting_for.as_ref().filter(|_| s.pid.is_some()) {
        Some(ask) => format!("{stored}\nwaits for an answer: {}", plain(&ask::asks(&s.name, ask))),
        None => stored,
    }
}

/// How a session comes back that comes back alone. While everything is paused nothing does.
fn back(s: &SessionView) -> String {
    let first = if s.resumable && !s.can_resume { "`glis resume --all`, then " } else { "" };
    format!("{first}`glis resume {}`", s.name)
}

fn stored(s: &SessionView, before: usize, status: Status, idle_secs: Option<u64>) -> String {
    let place = match before {
        0 => String::new(),
        1 => " behind 1 other".to_owned(),
        n => format!(" behind {n} others"),
    };
    if let Some(waits) = gate::waits(s) {
        return format!("queued{place}: {waits}");
    }
    match status {
        Status::Paused => format!("queued{place}. Session is paused. {} to continue.", back(s)),
        Status::Interrupted => {
            format!("queued{place}. The session was interrupted. {} to continue.", back(s))
        }
        // Whatever it was to be woken by is stored all the same.
        Status::Created | Status::Suspended | Status::Failed if unstarted(s).is_some() => {
            let why = plain(unstarted(s).unwrap_or_default());
            format!("queued{place}, but not started: {why}. `glis resume {}` tries again.", s.name)
        }
        Status::Suspended => match idle_secs {
            Some(idle) if idle > 60 => format!("Resuming session (idle for {} min)...", idle / 60),
            Some(_) | None => "Resuming session...".to_owned(),
        },
        _ => format!("stored{place}; `{}` is {}", s.name, s.status.word()),
    }
}

/// That the configuration file has a fault.
pub(crate) fn former_config(fault: &str) -> String {
    format!("warning: {fault}; until that is fixed the former configuration is used")
}

/// How many things `doctor` has found to be wrong.
pub(crate) fn wrong(count: usize) -> String {
    if count == 1 { "one thing is wrong".to_owned() } else { format!("{count} things are wrong") }
}

/// What `doctor` prints.
pub(crate) fn findings(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|finding| {
        let mark = match finding.health {
            Health::Good => "ok   ",
            Health::Warning => "warn ",
            Health::Bad => "BAD  ",
        };
        let hint =
            finding.hint.as_ref().map_or(String::new(), |hint| format!("\n       hint: {hint}"));
        format!("{mark}{}: {}{hint}", plain(&finding.subject), plain(&finding.message))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
