//! The script in a message: which verbs it holds, in order. Pure.

use std::time::Duration;

#[cfg(test)]
mod tests;

/// One thing a message tells the agent to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Writes a file.
    Write { path: String, text: String },
    /// Adds to a file.
    Append { path: String, text: String },
    /// Puts other words in the place of some.
    Edit { path: String, old: String, new: String },
    /// Deletes a file.
    Delete { path: String },
    /// Leaves its folder for another.
    Go { path: String },
    /// Runs a line in a shell.
    Run { command: String },
    /// Says this.
    Say { text: String },
    /// Says so many words, bit by bit.
    Stream { words: u32, rate: Rate },
    /// Asks whether it may.
    Approve { text: String },
    /// Asks this.
    Question { text: String },
    /// Works for so long.
    Work { time: Duration },
    /// Makes a list of tasks.
    Todo { items: Vec<String> },
    /// Tells what the conversation has cost so far.
    Cost { usd: f64 },
    /// Meets a usage limit.
    Limit { reset: Reset },
    /// Ends the turn with an error.
    Fail { message: String },
    /// Tells what it was told.
    Recall,
    /// Takes so much memory and keeps it.
    Hold { megabytes: usize },
    /// Writes a file line by line.
    TouchSlowly { path: String, lines: u32, rate: Rate },
    /// Heeds no signal, or none but one.
    Ignore(Ignored),
    /// Starts a process that leaves its family.
    Orphan { time: Duration },
    /// Starts a helper beside its turn.
    Background { time: Duration },
    /// Exits.
    Die { code: u8 },
    /// Ends itself by a signal.
    Crash,
    /// Prints what no emulator likes.
    Noise,
    /// Prints bytes that mean nothing.
    Garbage { bytes: usize },
    /// Prints as much as that.
    Flood { megabytes: u32 },
    /// A verb with words it cannot use; saying so beats guessing.
    Misread { part: String },
}

/// What the agent is to be deaf to from here on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ignored {
    Interrupts,
    Terminate,
    Nothing,
}

/// When a usage limit ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reset {
    In(Duration),
    At(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    per_second: f64,
}

impl Rate {
    /// Says how long after the start the `index`th happening is due, the first being at once.
    pub(crate) fn due(self, index: u32) -> Duration {
        // A rate so low that its time cannot be told means never, which a turn takes as far away.
        Duration::try_from_secs_f64(f64::from(index) / self.per_second).unwrap_or(FAR_AWAY)
    }
}

/// Longer than any rehearsal, and small enough to be added to any clock.
const FAR_AWAY: Duration = Duration::from_secs(1 << 30);

/// Finds the steps in `message`; none means it is only talk.
pub(crate) fn parse(message: &str) -> Vec<Step> {
    message.lines().flat_map(|line| line.split(" ;; ")).filter_map(step).collect()
}

fn step(part: &str) -> Option<Step> {
    let part = part.trim_start();
    let (verb, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
    let read = match verb {
        "write" => split_path(rest).map(|(path, text)| Step::Write { path, text: unescape(text) }),
        "append" => {
            split_path(rest).map(|(path, text)| Step::Append { path, text: unescape(text) })
        }
        "edit" => edit(rest),
        "delete" => split_path(rest).map(|(path, _)| Step::Delete { path }),
        "go" => split_path(rest).map(|(path, _)| Step::Go { path }),
        "run" => words(rest).map(|command| Step::Run { command }),
        "say" => words(rest).map(|text| Step::Say { text: unescape(&text) }),
        "stream" => stream(rest),
        "approve" => words(rest).map(|text| Step::Approve { text }),
        "question" => words(rest).map(|text| Step::Question { text }),
        "work" => secs(rest).map(|time| Step::Work { time }),
        "todo" => words(rest).map(|items| Step::Todo { items: todo(&items) }),
        "cost" => cost(rest),
        "limit" => limit(rest),
        "fail" => words(rest).map(|message| Step::Fail { message }),
        "recall" => Some(Step::Recall),
        "hold" => rest.trim().parse().ok().map(|megabytes| Step::Hold { megabytes }),
        "touch-slowly" => touch_slowly(rest),
        "ignore" => ignore(rest),
        "orphan" => secs(rest).map(|time| Step::Orphan { time }),
        "background" => secs(rest).map(|time| Step::Background { time }),
        "die" => rest.trim().parse().ok().map(|code| Step::Die { code }),
        "crash" => Some(Step::Crash),
        "noise" => Some(Step::Noise),
        "garbage" => rest.trim().parse().ok().map(|bytes| Step::Garbage { bytes }),
        "flood" => rest.trim().parse().ok().map(|megabytes| Step::Flood { megabytes }),
        _ => return None,
    };
    Some(read.unwrap_or_else(|| Step::Misread { part: part.to_owned() }))
}

fn words(rest: &str) -> Option<String> {
    let rest = rest.trim();
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn split_path(rest: &str) -> Option<(String, &str)> {
    let rest = rest.trim_start();
    let (path, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!path.is_empty()).then(|| (path.to_owned(), text))
}

fn edit(rest: &str) -> Option<Step> {
    let (path, change) = split_path(rest)?;
    let (old, new) = change.split_once(" => ").or_else(|| {
        // Nothing after the arrow takes the old text away.
        change.strip_suffix(" =>").map(|old| (old, ""))
    })?;
    (!old.is_empty()).then(|| Step::Edit { path, old: unescape(old), new: unescape(new) })
}

fn stream(rest: &str) -> Option<Step> {
    let (count, per_second) = rest.trim().split_once(char::is_whitespace)?;
    Some(Step::Stream { words: count.parse().ok()?, rate: rate(per_second)? })
}

fn touch_slowly(rest: &str) -> Option<Step> {
    let (path, pace) = split_path(rest)?;
    let (lines, per_second) = pace.trim().split_once(char::is_whitespace)?;
    Some(Step::TouchSlowly { path, lines: lines.parse().ok()?, rate: rate(per_second)? })
}

fn rate(word: &str) -> Option<Rate> {
    let per_second: f64 = word.trim().parse().ok()?;
    (per_second > 0.0 && per_second.is_finite()).then_some(Rate { per_second })
}

fn secs(word: &str) -> Option<Duration> {
    let secs: f64 = word.trim().parse().ok()?;
    Duration::try_from_secs_f64(secs).ok().map(|time| time.min(FAR_AWAY))
}

fn todo(items: &str) -> Vec<String> {
    items.split('|').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

fn cost(rest: &str) -> Option<Step> {
    let usd: f64 = rest.trim().parse().ok()?;
    (usd >= 0.0 && usd.is_finite()).then_some(Step::Cost { usd })
}

fn limit(rest: &str) -> Option<Step> {
    let rest = rest.trim();
    if let Some(wait) = rest.strip_prefix('+') {
        return secs(wait).map(|wait| Step::Limit { reset: Reset::In(wait) });
    }
    // Enough to tell a moment from prose; the moment itself is passed on as it was given.
    let moment = rest.contains('T') && rest.starts_with(|c: char| c.is_ascii_digit());
    moment.then(|| Step::Limit { reset: Reset::At(rest.to_owned()) })
}

fn ignore(rest: &str) -> Option<Step> {
    match rest.trim() {
        "int" => Some(Step::Ignore(Ignored::Interrupts)),
        "term" => Some(Step::Ignore(Ignored::Terminate)),
        "none" => Some(Step::Ignore(Ignored::Nothing)),
        _ => None,
    }
}

/// Turns `\n`, `\t` and `\\` into what they stand for; other backslashes stay.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('\\') | None => plain.push('\\'),
            Some(other) => plain.extend(['\\', other]),
        }
    }
    plain
}
