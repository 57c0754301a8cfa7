//! What an agent was started with: remembered for the next start, in memory only.

/// The variables of an agent, packed: there are as many of these as there are sessions, and hardly
/// anybody ever asks.
#[derive(Debug)]
pub(crate) struct Environment(Box<[u8]>);

/// Parts what no variable can contain.
const END: u8 = 0;

impl Environment {
    pub(crate) fn of(env: &[(String, String)]) -> Self {
        let length = env.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        let mut packed = Vec::with_capacity(length);
        for (name, value) in env {
            packed.extend_from_slice(name.as_bytes());
            packed.push(END);
            packed.extend_from_slice(value.as_bytes());
            packed.push(END);
        }
        Self(packed.into_boxed_slice())
    }

    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let mut words = self.0.split(|byte| *byte == END).map(String::from_utf8_lossy);
        let mut env = Vec::new();
        // Behind the last end there is nothing, which is no name.
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            env.push((name.into_owned(), value.into_owned()));
        }
        env
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_told_as_it_was() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        for env in [
            vec![],
            vec![pair("A", "")],
            vec![pair("A", "b=c\nd"), pair("", "x"), pair("\u{fc}", "\u{1f600}")],
        ] {
            assert_eq!(Environment::of(&env).variables(), env);
        }
    }
}
