//! How well typed letters fit a text.

/// How well some letters fit a text, which holds them in this order; none if it does not. Letters that
/// stand together, or begin a word, fit better.
pub(crate) fn fits(wanted: &str, text: &str) -> Option<i32> {
    let mut score = 0;
    let mut before = None;
    let mut last_hit: Option<usize> = None;
    let mut wanted = wanted.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase);
    let mut next = wanted.next();
    for (at, c) in text.chars().flat_map(char::to_lowercase).enumerate() {
        let Some(letter) = next else { break };
        if c == letter {
            let begins = before.is_none_or(|b: char| !b.is_alphanumeric());
            let together = last_hit.is_some_and(|hit| hit + 1 == at);
            score += 1 + if begins { 4 } else { 0 } + if together { 6 } else { 0 };
            // What is found early is what was meant.
            score -= i32::from(last_hit.is_none() && at > 8);
            last_hit = Some(at);
            next = wanted.next();
        }
        before = Some(c);
    }
    next.is_none().then_some(score)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn letters_fit_in_their_order_and_best_together() {
        assert!(fits("fxl", "fix-login").is_some());
        assert!(fits("lf", "fix-login").is_none());
        assert!(fits("log", "fix-login") > fits("log", "lazy-old-gnu"));
        assert_eq!(fits("", "anything"), Some(0));
    }
}
