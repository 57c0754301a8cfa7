//! The stream of events: every number once and in order, whatever is cut or killed.

use super::guard::token;
use crate::support::house::{House, Outcome};
use crate::support::web::Web;
use serde_json::json;

#[test]
fn a_stream_that_is_cut_goes_on_where_it_was() -> Outcome {
    let house = House::new()?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "manage")?;
    for number in 0..5 {
        house.rehearsal(&format!("s{number}"))?;
    }
    let mut last = 0;
    let mut seen = Vec::new();
    // Cut after one event, then after two, and so on; new ones come in between.
    for (number, length) in (5..).zip(1..8) {
        let mut events = web.events(&token, Some(last))?;
        for _ in 0..length {
            let (seq, event) = events.next()?.ok_or("the stream ended")?;
            assert_eq!(event["seq"], json!(seq));
            seen.push(seq);
            last = seq;
        }
        house.rehearsal(&format!("s{number}"))?;
    }
    let expected: Vec<u64> = (1..=last).collect();
    assert_eq!(seen, expected);
    Ok(())
}

#[test]
fn a_stream_outlives_the_daemon() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let web = Web::start(&house)?;
    let token = token(&house, "script", "watch")?;
    let mut events = web.events(&token, None)?;
    let (mut last, _) = events.until(|event| event["event"] == "session_created")?;
    house.kill_daemon()?;
    house.rehearsal("green")?;
    loop {
        let (seq, event) = events.next()?.ok_or("the stream ended")?;
        assert_eq!(seq, last + 1);
        last = seq;
        if event["event"] == "session_created" {
            return Ok(());
        }
    }
}
