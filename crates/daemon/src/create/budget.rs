//! What a session may use, as it is typed.

use super::wrong::{Wrong, wrong};
use glis_agent::Agent;
use glis_core::Session;
use glis_core::budget::{Budget, NoBudget};
use glis_core::spec::{Mode, SignSource};

/// What is typed for no budget at all.
const OFF: &str = "off";

/// The budget of a session that begins: what was asked for, or what is configured, as far as its agent tells that.
pub(super) fn of(
    told: Option<&str>,
    usual: Budget,
    tells: Tells,
) -> Result<Option<Box<Budget>>, Wrong> {
    let Some(told) = told else {
        let cost_micros = usual.cost_micros.filter(|_| tells.cost);
        let kept = Budget { cost_micros, tokens: usual.tokens.filter(|_| tells.tokens), ..usual };
        return Ok((!kept.is_empty()).then(|| Box::new(kept)));
    };
    read(told, tells)
}

/// The budget that a session is given later.
pub(crate) fn given(told: &str, session: &Session) -> Result<Option<Box<Budget>>, Wrong> {
    let spec = &session.spec;
    let tells = glis_agent::find(&spec.agent).map(|agent| Tells::of(agent, spec.mode, &spec.argv));
    read(told, tells.unwrap_or_default())
}

fn read(told: &str, tells: Tells) -> Result<Option<Box<Budget>>, Wrong> {
    if told == OFF {
        return Ok(None);
    }
    let budget: Budget = told.parse().map_err(|NoBudget(part)| {
        let hint = "usd=5, tokens=200k, time=2h, or several with commas between; `off` for none";
        wrong(format!("`{part}` is no part of a budget"), hint)
    })?;
    // A limit that nothing is counted for would be no limit.
    let not_told = |part: &str, what: &str, hint: &str| {
        let message = format!("its agent does not tell {what}, so `{part}` could not be kept");
        Err(wrong(message, hint))
    };
    if budget.cost_micros.is_some() && !tells.cost {
        return not_told(
            "usd",
            "what it costs",
            "claude and opencode tell it with --headless; `tokens=` and `time=` count too",
        );
    }
    if budget.tokens.is_some() && !tells.tokens {
        return not_told("tokens", "its tokens", "`time=2h` counts how long it is at work");
    }
    Ok(Some(Box::new(budget)))
}

/// What an agent tells of what it uses.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tells {
    cost: bool,
    tokens: bool,
}

impl Tells {
    pub(super) fn of(agent: &dyn Agent, mode: Mode, argv: &[String]) -> Self {
        let tokens = agent.traits(mode, argv).signs == SignSource::Structured;
        Self { cost: agent.tells_cost(mode), tokens }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Tells = Tells { cost: true, tokens: true };

    #[test]
    fn what_is_not_told_cannot_be_limited() {
        let nothing = Tells::default();
        for (told, why) in [("usd=5", "costs"), ("tokens=2k", "tokens"), ("five", "`five`")] {
            assert!(read(told, nothing).unwrap_err().message.contains(why), "{told}");
        }
        assert!(read("time=2h", nothing).unwrap().is_some());
        assert_eq!(read("off", nothing).unwrap(), None);
    }

    #[test]
    fn what_is_configured_counts_as_far_as_it_is_told() {
        let usual: Budget = "usd=5,tokens=2k".parse().unwrap();
        let tokens = Tells { cost: false, ..ALL };
        assert_eq!(of(None, usual, ALL).unwrap().as_deref(), Some(&usual));
        assert_eq!(of(None, usual, tokens).unwrap().unwrap().to_string(), "tokens=2k");
        assert_eq!(of(None, usual, Tells::default()).unwrap(), None);
        assert_eq!(of(Some("off"), usual, ALL).unwrap(), None);
    }
}
