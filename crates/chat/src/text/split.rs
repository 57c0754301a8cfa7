//! Long texts in parts: at the ends of lines, never inside a character, and inside a block of code only where the
//! block is longer than a part. What would be many parts is a first part and a file.

use super::{Style, Text};

/// More parts than these fill a phone's screen many times; a file is read more easily.
const PARTS_MAX: usize = 3;
/// Joined characters are looked back for so far. Flags and families are shorter; a longer chain is made to be
/// one.
const CHAIN_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts {
    /// So many messages, one at least.
    Whole(Vec<Text>),
    /// A message with the beginning, and the whole text is to follow as a file.
    First(Text),
}

/// Parts of at most `most` units each. Nothing of a text is lost but blanks where it is cut.
pub fn parts(text: &Text, most: usize) -> Parts {
    let (mut found, last) = in_parts(text, most);
    found.push(last);
    found.retain(|part| !part.is_blank());
    if found.len() > PARTS_MAX {
        return Parts::First(found.swap_remove(0));
    }
    Parts::Whole(found)
}

/// The same for a text that has something below it: what comes before the last part, and that. All of it is shown,
/// however many parts those are.
pub fn in_parts(text: &Text, most: usize) -> (Vec<Text>, Text) {
    let marks = Marks::new(text);
    let (mut before, mut at) = (Vec::new(), 0);
    while marks.end - at > most {
        let cut = marks.cut(at, most);
        before.push(text.cut(at, cut));
        at = cut;
    }
    before.retain(|part| !part.is_blank());
    (before, text.cut(at, marks.end))
}

/// Where a text can be cut.
struct Marks<'t> {
    text: &'t Text,
    /// Each character with the unit that it begins at.
    chars: Vec<(usize, char)>,
    end: usize,
}

impl<'t> Marks<'t> {
    fn new(text: &'t Text) -> Self {
        let mut end = 0;
        let chars = text.text.chars().map(|c| {
            let at = end;
            end += c.len_utf16();
            (at, c)
        });
        let chars = chars.collect();
        Self { text, chars, end }
    }

    /// The best place to end a part that begins at `from`.
    fn cut(&self, from: usize, most: usize) -> usize {
        let last = from + most;
        // A block that fits into a part stays whole; a longer one is cut like any text.
        let covers = |at: usize| {
            self.text.entities.iter().find(|entity| {
                entity.style == Style::Pre
                    && entity.length <= most
                    && entity.offset < at
                    && at < entity.offset + entity.length
            })
        };
        let last = covers(last).map_or(last, |block| block.offset);
        let within = |at: usize| at > from && at <= last && covers(at).is_none();
        let ends = |wanted: fn(char) -> bool| {
            let chars = self.chars.iter().rev();
            let after = chars.filter(move |(_, c)| wanted(*c)).map(|(at, c)| at + c.len_utf16());
            after.skip_while(move |at| *at > last).find(|at| within(*at))
        };
        let at_line = ends(|c| c == '\n');
        let late = |at: &usize| *at > from + most / 4;
        at_line
            .filter(late)
            .or_else(|| ends(char::is_whitespace).filter(late))
            .or(at_line)
            .or_else(|| self.seam(from, last))
            .unwrap_or(last)
    }

    /// The last place where a character ends that is not joined with the next.
    fn seam(&self, from: usize, last: usize) -> Option<usize> {
        let next = self.chars.partition_point(|(at, _)| *at <= last).checked_sub(1)?;
        // The unit `last` may lie inside of a pair: then the pair goes to the next part.
        let earliest = next.saturating_sub(CHAIN_MAX);
        let best = (earliest..=next).rev().find(|index| {
            let before = index.checked_sub(1).and_then(|before| self.chars.get(before));
            let here = self.chars.get(*index);
            matches!((before, here), (Some((_, a)), Some((_, b))) if !are_joined(*a, *b))
        });
        let at = self.chars.get(best.unwrap_or(next)).map(|(at, _)| *at)?;
        (at > from).then_some(at)
    }
}

/// Whether two characters are shown as one.
fn are_joined(one: char, next: char) -> bool {
    let flag = |c: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
    one == '\u{200d}' || (flag(one) && flag(next)) || {
        matches!(next,
            '\u{200d}' | '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}'
            | '\u{1ab0}'..='\u{1aff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
    }
}
