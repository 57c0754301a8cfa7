//! What agents write, as a chat shows it: code and bold words are marked as such. Everything else stays as it
//! was written, and so does markup that is not closed.

use super::{Entity, Style, Text, units};

/// A language's name is no longer than this, and more of a fence's line is none.
const LANGUAGE_MAX: usize = 24;

/// Reads the few marks that chats know.
pub fn from_markdown(source: &str) -> Text {
    let mut text = Written::default();
    let mut lines = source.lines().peekable();
    let mut first = true;
    while let Some(line) = lines.next() {
        if !std::mem::take(&mut first) {
            text.add(None, "\n");
        }
        let Some((mark, language)) = fence(line) else {
            inline(&mut text, line);
            continue;
        };
        let mut block = Vec::new();
        // One that is not closed is a block up to the end: the agent was cut short, or is still writing.
        for line in lines.by_ref() {
            if is_end(line, mark) {
                break;
            }
            block.push(line);
        }
        text.add(Some((Style::Pre, language)), &block.join("\n"));
    }
    text.text
}

/// A text that grows. It knows how long it is: counted anew for each mark, a long one takes minutes.
#[derive(Default)]
struct Written {
    text: Text,
    units: usize,
}

impl Written {
    fn add(&mut self, style: Option<(Style, Option<String>)>, words: &str) {
        let (offset, length) = (self.units, units(words));
        if let Some((style, language)) = style.filter(|_| length > 0) {
            self.text.entities.push(Entity { style, offset, length, language });
        }
        self.text.text.push_str(words);
        self.units += length;
    }
}

/// The mark that a block of code begins with, and its language.
fn fence(line: &str) -> Option<(&str, Option<String>)> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let mark = line.get(..line.len() - rest.len()).filter(|mark| mark.len() >= 3)?;
    // Code within a line may begin with three of them as well, and then it ends in the same line.
    if rest.contains(sign) {
        return None;
    }
    let named = |c: char| c.is_ascii_alphanumeric() || "+#._-".contains(c);
    let word = rest.split_whitespace().next().unwrap_or_default();
    let is_name = !word.is_empty() && word.len() <= LANGUAGE_MAX && word.chars().all(named);
    Some((mark, is_name.then(|| word.to_owned())))
}

fn is_end(line: &str, mark: &str) -> bool {
    let line = line.trim();
    line.len() >= mark.len() && line.starts_with(mark) && {
        let sign = mark.chars().next().unwrap_or('`');
        line.chars().all(|c| c == sign)
    }
}

fn inline(text: &mut Written, line: &str) {
    let level = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&level)
        && let Some(heading) = line.get(level..).and_then(|rest| rest.strip_prefix(' '))
    {
        return emphasis(text, heading.trim());
    }
    spans(text, line, None);
}

/// Bold words; code among them is code only, since nothing may be both.
fn emphasis(text: &mut Written, words: &str) {
    spans(text, &words.replace("**", ""), Some(Style::Bold));
}

/// A line with its marks read; what has none looks as usual.
fn spans(text: &mut Written, line: &str, usual: Option<Style>) {
    let usual = |text: &mut Written, words: &str| text.add(usual.map(|it| (it, None)), words);
    let (mut rest, mut plain) = (line, String::new());
    while let Some(c) = rest.chars().next() {
        let found = match c {
            '`' => code(rest),
            '*' => strong(rest),
            _ => None,
        };
        let Some((inner, after)) = found else {
            // A run of marks that opens nothing is passed whole: a part of it opens nothing either.
            let run = rest.len() - rest.trim_start_matches(c).len();
            let run = if matches!(c, '`' | '*') { run } else { c.len_utf8() };
            plain.push_str(rest.get(..run).unwrap_or_default());
            rest = rest.get(run..).unwrap_or_default();
            continue;
        };
        usual(text, &std::mem::take(&mut plain));
        if c == '`' {
            text.add(Some((Style::Code, None)), inner);
        } else {
            emphasis(text, inner);
        }
        rest = after;
    }
    usual(text, &plain);
}

/// Code at the beginning of this, and what follows it.
fn code(rest: &str) -> Option<(&str, &str)> {
    let body = rest.trim_start_matches('`');
    let mark = rest.get(..rest.len() - body.len())?;
    let mut from = 0;
    loop {
        let at = from + body.get(from..)?.find('`')?;
        let run = body.get(at..)?;
        let run = run.len() - run.trim_start_matches('`').len();
        if run == mark.len() {
            let inner = body.get(..at)?;
            let trimmed = inner.trim();
            let inner = if trimmed.is_empty() { inner } else { trimmed };
            return Some((inner, body.get(at + run..)?));
        }
        from = at + run;
    }
}

/// Bold words at the beginning of this, and what follows them.
fn strong(rest: &str) -> Option<(&str, &str)> {
    let body = rest.strip_prefix("**")?;
    let (inner, after) = body.split_once("**")?;
    let tight = !inner.starts_with([' ', '*']) && !inner.ends_with(' ') && !inner.is_empty();
    tight.then_some((inner, after))
}
