//! What the bot says. Where the first bot of this kind had words for something, these are those, letter by
//! letter.

mod card;
mod file;
mod here;
mod pause;
mod plan;
mod progress;
mod topic;

pub use card::{
    Answer, BELOW_CARD_MAX, SHOWN_AGAIN, Shown, answer_in_words, card, no_answer, resolution_of,
    settled,
};
pub use file::{COMMAND_WITH_FILE, FILE_IS_NO_ANSWER, heard, only_a, too_large, what_was_said};
pub use here::{About, in_chat};
pub use pause::{Done, Gate, all_resumed, gate, paused, restarted, resumed, stopped, unanswered};
pub use plan::{
    can_resume, is_stuck, plan_now, plan_paused, plan_runs, plan_title, plan_written, proposal,
    rests, run_line, stuck,
};
pub use progress::{iterated, loop_broke, loop_done, loop_now};
pub use topic::{
    NO_SESSION_IN_TOPIC, no_topic, switched_outside, topic_closed, topic_gone, topic_made,
};

use crate::command::{COMMANDS, Known};
use crate::text::{Text, clean};
use glis_client::labels::{self, state};
use glis_core::Status;
use glis_core::session::Deferral;
use glis_wire::view::{CostView, Entry, FileDiffView, PersonaView, SessionRow, SessionView, Voice};
use pause::was_asking;
use serde_json::Value;

/// There is no session to talk to.
pub const NO_SESSION: &str = "No active session";
/// There is none at all.
pub const NO_SESSIONS: &str = "No sessions found. Use /new to create one.";
/// A message waits for a paused session.
pub const IS_PAUSED: &str = "Session is paused. /resume to continue.";
/// A message waits for a session that was interrupted.
pub const IS_INTERRUPTED: &str = "The session was interrupted. /resume to continue.";
/// A message waits for a session that does not start.
pub const IS_NOT_STARTED: &str =
    "Your message is queued, but the session does not start. /resume tries again.";
/// A message waits for a session that does not go on by itself when everything does.
pub const FIRST_RESUME_ALL: &str =
    "Everything is paused. /resumeall first, then /resume to continue.";
/// Everything is paused, and a message waits for that.
pub const ALL_PAUSED: &str = "Everything is paused. /resumeall to continue.";
/// Two homes share a token.
pub const ANOTHER_READS: &str = "Another process reads this bot's messages as well, so that each gets a part of them. \
    Stop it, or give each home a bot of its own.";
/// There is nothing that was paused with everything.
pub const NOT_ALL_PAUSED: &str =
    "Nothing was resumed: not everything is paused. /resume resumes the current session.";
/// A sticker, or the like.
pub const NO_WORDS: &str =
    "This was not sent: an agent takes words, files, pictures and what is spoken.";
/// In a group a question is for one user.
pub const NOT_YOURS: &str =
    "This question is for another user. /switch to the session to be asked as well.";
/// More active sessions than these are warned of.
const ACTIVE_MAX: usize = 10;
/// So many entries of a conversation are shown.
const LOG_ENTRIES: usize = 10;
/// So much of each.
const LOG_CHARS: usize = 300;
/// So many things that were done are listed: the end of a turn is told on a screen.
const TOOLS_SHOWN: usize = 5;

/// Before a message wakes a session that has been idle for so long.
pub fn resuming(idle_secs: u64) -> String {
    let minutes = idle_secs / 60;
    // Up to a minute is no time worth telling.
    if idle_secs > 60 {
        format!("Resuming session (idle for {minutes} min)...")
    } else {
        "Resuming session...".to_owned()
    }
}

/// What sessions have used today, the dearest first.
pub fn costs(all: &[CostView]) -> Text {
    let mut text = Text::default().bold("Used today:");
    if all.is_empty() {
        return text.and(" nothing, as far as agents tell it.");
    }
    for one in all {
        text = text.and("\n").code(&one.key).and(&used(one));
    }
    let together = CostView::together(all);
    let sum = format!("\n{}{}", together.key, used(&together));
    if all.len() > 1 { text.and(&sum) } else { text }
}

/// The personas that `/new` takes.
pub fn personas(all: &[PersonaView]) -> Text {
    if all.is_empty() {
        return Text::default().and("The configuration has no personas.");
    }
    all.iter().fold(Text::default().bold("Personas:"), |text, one| {
        let of = [&one.agent, &one.model].into_iter().flatten();
        of.fold(text.and("\n").code(&one.name), |text, word| text.and(&format!(" \u{b7} {word}")))
    })
}

fn used(one: &CostView) -> String {
    let usd = one.usd.map_or_else(String::new, |usd| format!(" ${usd:.2}"));
    format!("{usd} \u{b7} {} tokens in, {} out", one.tokens_in, one.tokens_out)
}

/// The list of sessions, those that need a person first; so many `more` rest for longer. `current` is the id of the chat's own.
pub fn sessions(all: &[SessionRow], more: usize, current: Option<&str>) -> Text {
    let mut text = Text::default().bold("Sessions:").and("\n");
    let mut group = None;
    for session in all {
        let former = group.replace(session.need);
        if former != Some(session.need) {
            text = text.and(if former.is_some() { "\n\n" } else { "\n" });
            text = text.bold(session.need.words());
        }
        let marker = if Some(session.id.as_str()) == current { "\u{2192} " } else { " " };
        let persona = session.persona.as_deref().unwrap_or("default");
        let sign = emoji(session.status);
        text = text.and(&format!("\n{marker}{sign} ")).code(&session.name);
        let put = labels::triage(session).map_or_else(String::new, |put| format!(" {put}"));
        text = text.and(&format!(" ({persona}){put}\n {}", minute(&session.last_active_at)));
    }
    if more > 0 {
        text = text.and(&format!("\n\n{more} more rest for longer."));
    }
    let active = all.iter().filter(|session| emoji(session.status) == ACTIVE).count();
    if active > ACTIVE_MAX {
        let warning = format!("\n\n\u{26a0} {active} sessions are active.");
        text = text.and(&warning);
    }
    text
}

/// The sign of a session that does something, or is about to.
const ACTIVE: &str = "\u{1f7e2}";

fn emoji(status: Status) -> &'static str {
    match status {
        Status::Busy | Status::Waiting | Status::Pausing | Status::Resuming => ACTIVE,
        Status::Idle => "\u{1f535}",
        _ => "\u{26aa}",
    }
}

fn minute(time: &str) -> String {
    let parsed = time.parse::<jiff::Timestamp>();
    parsed.map_or_else(|_| "unknown".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M").to_string())
}

/// How long a session may be idle, and how to change that.
pub fn timeout(session: &SessionView) -> String {
    const USAGE: &str = "Usage: /timeout <minutes>";
    match session.idle_timeout_secs / 60 {
        0 => format!("Current idle timeout: none\n\n{USAGE}"),
        minutes => format!("Current idle timeout: {}\n\n{USAGE}", so_many(minutes)),
    }
}

/// The minutes of a timeout as they were typed, or what is wrong with them.
pub fn minutes(typed: &str) -> Result<u64, &'static str> {
    let number: i128 = typed.parse().map_err(|_| "Invalid number. Usage: /timeout <minutes>")?;
    let minutes = u64::try_from(number).ok().filter(|minutes| (1..=120).contains(minutes));
    minutes.ok_or("Timeout must be between 1 and 120 minutes")
}

pub fn timeout_set(minutes: u64) -> String {
    format!("Idle timeout set to {}", so_many(minutes))
}

fn so_many(minutes: u64) -> String {
    format!("{minutes} minute{}", if minutes == 1 { "" } else { "s" })
}

/// A session was made, with what was chosen for it.
pub fn made(session: &SessionView, notes: &[String]) -> Text {
    let mut text = Text::plain("Session ").code(&session.name).and(" created.");
    for note in notes {
        let note = in_chat(&clean(note), About::Session(Some(&session.name)));
        text = text.and(&format!("\n{note}"));
    }
    text
}

/// Another session is the current one.
pub fn switched(session: &SessionView) -> Text {
    Text::plain("Switched to ")
        .code(&session.name)
        .and(&format!(" ({}).", state(session)))
        .join(&open(session))
}

/// What a session asks already, or asked when it was paused.
fn open(session: &SessionView) -> Text {
    match session.asks.len() {
        0 => Text::plain(was_asking(session)),
        1 => Text::plain("\nIt asks something:"),
        many => Text::plain(format!("\nIt asks {many} things:")),
    }
}

/// All about a session that fits on a phone.
pub fn status(session: &SessionView) -> Text {
    let mut text = Text::default().bold(&session.name).and(&format!(" \u{b7} {}", session.agent));
    let persona = session.persona.as_ref().map(|name| format!(" \u{b7} {name}"));
    text = text.and(&persona.unwrap_or_default());
    text = text.and(&format!("\n{} {}", emoji(session.status), state(session)));
    if let Some(operation) = &session.operation {
        text = text.and(&format!(" ({})", clean(operation)));
    }
    if let Some(why) = &session.failure {
        let why = in_chat(&clean(why), About::Session(Some(&session.name)));
        text = text.and(&format!("\n{why}"));
    }
    if let Some(line) = session.looped.as_deref().map(loop_now) {
        text = text.and(&format!("\n{line}"));
    }
    if let Some(waits) = waits(session) {
        text = text.and(&format!("\n{waits}"));
    }
    text = text.and(&was_asking(session));
    if let Some(until) = &session.limit_until {
        text = text.and(&format!("\nUsage limit until {}", clean(until)));
    }
    if session.queued > 0 {
        text = text.and(&format!("\n({} queued)", session.queued));
    }
    if let Some(action) = &session.last_action {
        text = text.and("\n").bold("Last Action:").and(&format!(" {}", short(action, LOG_CHARS)));
    }
    if !session.pending_tasks.is_empty() {
        text = text.and("\n").bold("Pending:");
        for task in session.pending_tasks.iter().take(3) {
            text = text.and(&format!("\n\u{25cb} {}", short(task, 120)));
        }
    }
    if let Some(at) = &session.compacted_at {
        text = text.and(&format!("\nIts conversation was compacted at {}.", minute(at)));
    }
    if let Some(branch) = &session.branch {
        text = text.and("\n").code(branch);
    }
    text
}

/// What a start of a session waits for.
pub fn waits(session: &SessionView) -> Option<&'static str> {
    session.waits_to_start.map(|why| match why {
        Deferral::Gate => ALL_PAUSED,
        Deferral::Limit => "As many agents run as may; it starts by itself when one ends.",
    })
}

/// Which files a session has changed.
pub fn diff(name: &str, files: &[FileDiffView]) -> Text {
    let head = Text::default().bold(name).and("\n");
    if files.is_empty() {
        return head.and("No changes.");
    }
    let line = |file: &FileDiffView| {
        let count = |lines: Option<u64>| lines.map_or_else(|| "-".to_owned(), |n| n.to_string());
        format!("+{:<5} -{:<5} {}", count(file.added), count(file.removed), clean(&file.path))
    };
    // More of them stand in the patch.
    let mut lines: Vec<String> = files.iter().take(40).map(line).collect();
    if files.len() > lines.len() {
        lines.push(format!("... and {} more", files.len() - lines.len()));
    }
    head.block(&lines.join("\n"))
}

/// The end of a conversation. What has no words tells that a turn has ended.
pub fn log(name: &str, entries: &[Entry]) -> Text {
    let said: Vec<&Entry> = entries.iter().filter(|it| !it.content.trim().is_empty()).collect();
    let mut text = Text::default().bold(name);
    if said.is_empty() {
        return text.and("\nNothing was said yet.");
    }
    for entry in said.iter().rev().take(LOG_ENTRIES).rev() {
        let voice = match entry.voice {
            Voice::User => "you",
            Voice::Assistant => "agent",
            Voice::System => "glis",
            Voice::Tool => "tool",
        };
        text = text.and("\n\n").bold(voice).and(&format!(": {}", told(entry, LOG_CHARS)));
    }
    text
}

/// Something that an agent does, in a line.
pub fn tool(entry: &Entry) -> String {
    format!("\u{2699} {}", told(entry, 80))
}

/// What an entry says; of a tool which one it is, and how it ended where that is known.
fn told(entry: &Entry, most: usize) -> String {
    let about = |key: &str| {
        let word = entry.metadata.get(key).and_then(Value::as_str);
        word.filter(|_| entry.voice == Voice::Tool).map(|word| short(word, 40))
    };
    let name = about("tool").map_or_else(String::new, |name| format!("{name} "));
    let outcome = about("outcome").map_or_else(String::new, |word| format!(" ({word})"));
    format!("{name}{}{outcome}", short(&entry.content, most))
}

/// Whether a tool was not allowed: it did nothing. An agent may tell of it before, in the same words.
fn is_denied(entries: &[Entry], entry: &Entry) -> bool {
    let of = |entry: &Entry, key: &str| entry.metadata.get(key).cloned();
    entries.iter().any(|later| {
        of(later, "outcome").as_ref().and_then(Value::as_str) == Some("denied")
            && (of(later, "tool"), &later.content) == (of(entry, "tool"), &entry.content)
    })
}

/// A turn is over, and nothing was said in it: what was done.
pub fn done(entries: &[Entry]) -> Text {
    let did = |entry: &&Entry| entry.voice == Voice::Tool && !is_denied(entries, entry);
    let tools: Vec<&Entry> = entries.iter().filter(did).collect();
    let before = tools.len().saturating_sub(TOOLS_SHOWN);
    let mut lines = vec!["Done, without a word.".to_owned()];
    if before > 0 {
        lines.push(format!("... {before} before these:"));
    }
    lines.extend(tools.into_iter().skip(before).map(tool));
    Text::plain(lines.join("\n"))
}

pub fn help() -> Text {
    let mut text = Text::plain("Send a message to talk to the current session.\n");
    for Known { verb, takes, about, .. } in COMMANDS.iter().filter(|it| it.verb != "start") {
        let typed = format!("/{verb} {takes}");
        text = text.and(&format!("\n{} \u{2013} {about}", typed.trim_end()));
    }
    text
}

/// What `/new` says where it does not know where to work.
pub fn no_repo(named: Option<&str>, known: &[&str]) -> String {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    match named {
        Some(name) => format!("There is no repository `{}`. Known: {known}", short(name, 60)),
        None => "No repository is set. Put `repo` into [chat.telegram].".to_owned(),
    }
}

/// What a restart means, before it is confirmed.
pub fn restart(name: &str) -> Text {
    let text = Text::plain("Restart ").code(name).and("? A new conversation begins in the same ");
    text.and("worktree. The old one stays in the log.")
}

/// What archiving means, before it is confirmed.
pub fn archive(session: &SessionView) -> Text {
    let running = if session.pid.is_some() { " Its agent is stopped first." } else { "" };
    let text = Text::plain("Put ").code(&session.name);
    text.and(&format!(" into the trash?{running} `glis trash restore` brings it back."))
}

/// A group has another number.
pub fn moved(number: i64) -> Text {
    let text = Text::plain("The network has given a group of this bot another number. Put ");
    text.code(&number.to_string())
        .and(" into `allowed_chats` in place of the old one, and /switch there.")
}

/// What the bot knew is lost to it.
pub fn put_aside(file: &str) -> Text {
    Text::plain("What this bot knew was damaged. It is kept as ")
        .code(file)
        .and(", and the bot begins anew. All sessions run on: /sessions lists them, and /switch NAME shows what one ")
        .and("asks. What was just said here, or was about to be, may be missing.")
}

/// A session is in the trash.
pub fn archived(name: &str) -> Text {
    Text::plain("Session ").code(name).and(" is archived. `glis trash restore` brings it back.")
}

/// What came long after it was typed.
pub fn late(typed: &str, minutes: i64) -> Text {
    let text = Text::plain(format!("This came {minutes} minutes late and was not carried out:\n"));
    text.block(&short(typed, LOG_CHARS))
}

/// A button that may have been pressed long ago.
pub fn late_press(label: &str) -> Text {
    let text = "This was pressed while the bot was away, and was not carried out:\n";
    Text::plain(text).block(&short(label, LOG_CHARS))
}

/// The same with the session that it is for.
pub fn is_for(text: Text, session: Option<&str>) -> Text {
    match session {
        Some(name) => text.and("\nIt is for ").code(name).and("."),
        None => text,
    }
}

/// Words for a session that waits for an answer are none.
pub fn waits_for_answer(name: &str) -> Text {
    Text::default().bold(name).and(
        " waits for an answer: press a button of its question, or reply to it. Your message is queued behind that.",
    )
}

/// The beginning of a text, in one line.
pub fn short(text: &str, most: usize) -> String {
    let line = glis_wire::plain::in_one_line(&clean(text));
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most).collect();
    format!("{cut}\u{2026}")
}

/// Something went wrong: what, and what to do.
pub fn fault(message: &str, hint: Option<&str>, about: About<'_>) -> Text {
    let said = |text: &str| in_chat(&clean(text), about);
    let hint = hint.map_or_else(String::new, |hint| format!("\n{}", said(hint)));
    Text::plain(format!("{}{hint}", said(message)))
}

#[cfg(test)]
pub(crate) mod tests;
