//! A usage limit, or another error that ends a turn, is known by what an agent's own program records of it,
//! never by what the agent says: the records are those that the real programs wrote when the model refused them.

use glis_agent::{Shown, Source};
use glis_core::input::Sign;
use glis_core::spec::Mode;
use serde_json::{Value, json};

/// What an agent may well say when it is asked about limits.
const TALK: &str = "The package ratelimit answers 429: \"You've hit your 5-hour limit \u{b7} resets \
     7:28am (Europe/Zurich)\", error: rate_limit, usage_limit_exceeded, status rejected.";

/// The signs of these lines, hooks first where there are any.
#[expect(clippy::expect_used, reason = "the tests name agents of the table")]
fn signs(agent: &str, mode: Mode, hooks: &[Value], lines: &[Value]) -> Vec<Sign> {
    let mut dialect = glis_agent::find(agent).expect("an agent of the table").dialect(mode);
    let bytes = |lines: &[Value]| {
        lines.iter().fold(Vec::new(), |all, line| {
            [all, line.to_string().into_bytes(), b"\n".to_vec()].concat()
        })
    };
    let mut heard = dialect.overhear(0, &bytes(hooks));
    heard.extend(match dialect.source() {
        Source::Stream => dialect.hear(0, &bytes(lines)),
        Source::Transcript | Source::Screen => dialect.read(0, &bytes(lines)),
    });
    heard.into_iter().filter_map(|heard| heard.sign).collect()
}

fn limited(reset_at: &str) -> Sign {
    Sign::TurnLimited { reset_at: reset_at.to_owned() }
}

fn failed(why: &str) -> Sign {
    Sign::TurnFailed(why.to_owned())
}

fn tells_of_a_limit(signs: &[Sign]) -> bool {
    let limit = |sign: &Sign| matches!(sign, Sign::LimitReached { .. } | Sign::TurnLimited { .. });
    signs.iter().any(limit)
}

fn claude(lines: &[Value]) -> Vec<Sign> {
    let answer = json!({"subtype": "success", "request_id": "glis-first"});
    let ready = json!({"type": "control_response", "response": answer});
    signs("claude", Mode::Headless, &[], &[&[ready], lines].concat())
}

#[test]
fn claude_on_pipes() {
    let info =
        json!({"status": "rejected", "resetsAt": 1_794_810_488, "rateLimitType": "five_hour"});
    let event = json!({"type": "rate_limit_event", "rate_limit_info": info});
    let result = json!({"type": "result", "subtype": "success", "is_error": true,
        "terminal_reason": "api_error", "api_error_status": 429,
        "api_error_type": "rate_limit_error", "result": "You've hit your 5-hour limit"});
    let ended = claude(&[event.clone(), result.clone()]);
    assert_eq!(ended.last(), Some(&limited("1794810488")));
    // With a key no time is told.
    assert_eq!(claude(&[result]).last(), Some(&limited("")));
    // It went on after all, by what was bought beside, or at its second try.
    let well = json!({"type": "result", "subtype": "success", "is_error": false, "result": TALK});
    assert_eq!(claude(&[event, well.clone()]).last(), Some(&Sign::TurnEnded));
    let warned =
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning"}});
    let said =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": TALK}]}});
    assert!(!tells_of_a_limit(&claude(&[warned, said, well])));
    let broken =
        json!({"type": "result", "is_error": true, "api_error_status": 529, "result": TALK});
    assert_eq!(claude(&[broken]), [Sign::Ready, failed(TALK)]);
}

fn claude_in_a_terminal(error: Option<&str>, line: &Value) -> Vec<Sign> {
    let mut stop = json!({"hook_event_name": "Stop", "prompt_id": "p"});
    if let Some(error) = error {
        stop = json!({"hook_event_name": "StopFailure", "prompt_id": "p", "error": error});
    }
    let hooks =
        [json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p", "prompt": "hi"}), stop];
    let user = json!({"type": "user", "promptId": "p", "message": {"content": "hi"}});
    let closing = json!({"type": "system", "subtype": "turn_duration"});
    signs("claude", Mode::Terminal, &hooks, &[user, line.clone(), closing])
}

#[test]
fn claude_in_its_terminal() {
    let info = json!({"rate_limit_info": {"status": "rejected", "resetsAt": 1_795_210_488}});
    let error = json!({"type": "assistant", "error": "rate_limit", "isApiErrorMessage": true,
        "apiErrorStatus": 429, "apiErrorParams": info, "message": {"model": "<synthetic>",
        "content": [{"type": "text", "text": "You've hit your 5-hour limit"}]}});
    let ended = claude_in_a_terminal(Some("rate_limit"), &error);
    assert_eq!(ended.last(), Some(&limited("1795210488")));
    let said =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": TALK}]}});
    assert_eq!(claude_in_a_terminal(Some("rate_limit"), &said).last(), Some(&limited("")));
    let ended = claude_in_a_terminal(None, &said);
    assert_eq!(ended.last(), Some(&Sign::TurnEnded));
    assert!(!tells_of_a_limit(&ended));
    let ended = claude_in_a_terminal(Some("server_error"), &said);
    assert_eq!(ended.last(), Some(&failed("server_error")));
    assert!(!tells_of_a_limit(&ended));
}

/// Claude Code 2.1.326 writes that it goes on by itself in place of the lines that closed a turn before.
#[test]
fn claude_in_its_terminal_that_means_to_go_on_by_itself() {
    let begun = json!({"hook_event_name": "UserPromptSubmit", "prompt_id": "p", "prompt": "hi"});
    let stop = json!({"hook_event_name": "StopFailure", "prompt_id": "p", "error": "rate_limit",
        "last_assistant_message": "You've hit your 5-hour limit \u{b7} resets 10:54pm (UTC)"});
    let user = json!({"type": "user", "promptId": "p", "message": {"content": "hi"}});
    let info =
        json!({"status": "rejected", "resetsAt": 1_794_956_084, "rateLimitType": "five_hour"});
    let error = json!({"type": "assistant", "apiError": "usage_limit_reached", "error": "rate_limit",
        "isApiErrorMessage": true, "apiErrorStatus": 429, "apiErrorType": "rate_limit_error",
        "apiErrorParams": {"rate_limit_info": info}, "message": {"model": "<synthetic>",
        "content": [{"type": "text", "text": "You've hit your 5-hour limit"}]}});
    let notice = json!({"type": "system", "subtype": "informational", "isMeta": false,
        "content": "Usage limit reached \u{b7} continuing automatically at 10:54pm \u{b7} esc to cancel"});
    let lines = [user.clone(), error, notice.clone()];
    let ended = signs("claude", Mode::Terminal, &[begun.clone(), stop.clone()], &lines);
    assert_eq!(ended.last(), Some(&limited("1794956084")));

    // Where the transcript has no word of it, the hook's word counts once the screen is at rest.
    let mut dialect = glis_agent::find("claude").unwrap().dialect(Mode::Terminal);
    drop(dialect.overhear(0, format!("{begun}\n{stop}\n").as_bytes()));
    let read = dialect.read(0, format!("{user}\n{notice}\n").as_bytes());
    assert!(read.iter().all(|heard| heard.sign.is_none()), "{read:?}");
    assert_eq!(dialect.at_rest(&Shown::Prompt), Some(limited("")));
    assert_eq!(dialect.at_rest(&Shown::Prompt), None, "it is told once");
}

fn codex(lines: &[Value]) -> Vec<Sign> {
    signs("codex", Mode::Headless, &[], lines)
}

#[test]
fn codex_on_pipes() {
    let turn = |error: Value| json!({"method": "turn/completed", "params": {"turn": {"status": "failed", "error": error}}});
    let fault = json!({"message": "You\u{2019}ve hit your usage limit. Visit \u{2026} or try again at \
        6:24 AM.", "codexErrorInfo": "usageLimitExceeded"});
    assert_eq!(codex(&[turn(fault.clone())]).last(), Some(&limited("6:24 AM")));
    let window =
        json!({"usedPercent": 100.0, "windowDurationMins": 300, "resetsAt": 1_794_810_287});
    let told = json!({"method": "account/rateLimits/updated",
        "params": {"rateLimits": {"primary": window, "secondary": null}}});
    assert_eq!(codex(&[told.clone(), turn(fault)]).last(), Some(&limited("1794810287")));
    // Used up with the last answer, which was still given.
    let well = json!({"method": "turn/completed", "params": {"turn": {"status": "completed"}}});
    assert!(!tells_of_a_limit(&codex(&[told, well])));
    let other = turn(json!({"message": TALK, "codexErrorInfo": "other"}));
    let said = json!({"method": "item/completed",
        "params": {"item": {"id": "1", "type": "agentMessage", "text": TALK}}});
    assert_eq!(codex(&[said, other]), [failed(TALK)]);
    // A message that it does not even take.
    let refused =
        json!({"id": "glis-message", "error": {"code": -32600, "message": "no such model"}});
    assert_eq!(codex(&[refused]), [failed("no such model")]);
}

#[test]
fn codex_in_its_terminal() {
    let rollout = |lines: &[Value]| {
        let lines: Vec<Value> =
            lines.iter().map(|line| json!({"type": "event_msg", "payload": line})).collect();
        signs("codex", Mode::Terminal, &[], &lines)
    };
    let window = json!({"used_percent": 100.0, "window_minutes": 300, "resets_at": 1_794_810_287});
    let told =
        json!({"type": "token_count", "rate_limits": {"primary": window, "secondary": null}});
    let fault = json!({"type": "task_complete", "error": {"message": "You\u{2019}ve hit your usage \
        limit, try again at 6:24 AM.", "codex_error_info": "usage_limit_exceeded"}});
    assert_eq!(rollout(&[told, fault.clone()]).last(), Some(&limited("1794810287")));
    assert_eq!(rollout(&[fault]).last(), Some(&limited("6:24 AM")));
    let said = json!({"type": "item_completed",
        "item": {"type": "AgentMessage", "content": [{"text": TALK}]}});
    let well = json!({"type": "task_complete", "last_agent_message": TALK});
    assert!(!tells_of_a_limit(&rollout(&[said, well])));
    let other =
        json!({"type": "task_complete", "error": {"message": TALK, "codex_error_info": "other"}});
    assert_eq!(rollout(&[other]), [failed(TALK)]);
}

#[test]
fn codex_tells_how_much_of_its_window_is_used() {
    let window = |used: f64| json!({"used_percent": used, "window_minutes": 300, "resets_at": 1});
    let lines = [
        json!({"type": "event_msg", "payload": {"type": "token_count",
            "rate_limits": {"primary": window(12.0), "secondary": window(64.8)}}}),
        json!({"type": "token_usage_record", "payload": {"turn_token_usage": {"input_tokens": 7}}}),
        json!({"type": "event_msg", "payload": {"type": "task_complete"}}),
    ];
    let lines = lines.map(|line| format!("{line}\n")).concat();
    let mut dialect = glis_agent::find("codex").unwrap().dialect(Mode::Terminal);
    let heard = dialect.read(0, lines.as_bytes());
    let used = heard.iter().flat_map(|one| &one.said).find_map(|said| said.usage).unwrap();
    assert_eq!((used.tokens_in, used.window_percent), (7, Some(64)));
}

/// It says in the protocol's words why it stopped; an answer that is too long only in its database.
#[test]
fn opencode_on_pipes() {
    let opencode = |stopped: &str| {
        let begun = json!({"id": "glis-conversation {}", "result": {"sessionId": "ses_1"}});
        let over = json!({"id": "glis-message", "result": {"stopReason": stopped}});
        signs("opencode", Mode::Headless, &[], &[begun, over]).pop()
    };
    assert_eq!(opencode("end_turn"), Some(Sign::TurnEnded));
    assert_eq!(opencode("cancelled"), Some(Sign::TurnCut));
    for stopped in ["refusal", "max_tokens", "max_turn_requests"] {
        let sign = opencode(stopped);
        assert!(matches!(&sign, Some(Sign::TurnFailed(why)) if !why.is_empty()), "{sign:?}");
    }
    let written = |finish: &str| {
        let message = json!({"info": {"role": "assistant", "finish": finish}, "parts": []});
        let document = json!({"messages": [message]}).to_string();
        let mut dialect = glis_agent::find("opencode").unwrap().dialect(Mode::Headless);
        dialect.read(0, document.as_bytes()).pop().and_then(|heard| heard.sign)
    };
    assert_eq!(written("stop"), Some(Sign::TurnEnded));
    for finish in ["length", "content-filter"] {
        assert!(matches!(written(finish), Some(Sign::TurnFailed(_))), "{finish}");
    }
}

#[test]
fn the_rehearsal_agent() {
    let limit = json!({"type": "limit", "reset_at": "2026-11-16T06:00:00Z"});
    let ended = json!({"type": "turn_ended", "result": "limit"});
    let heard = signs("rehearsal", Mode::Headless, &[], &[limit, ended]);
    assert_eq!(heard.last(), Some(&limited("2026-11-16T06:00:00Z")));
    let fault = json!({"type": "fault", "message": TALK});
    let ended = json!({"type": "turn_ended", "result": "failed"});
    assert_eq!(signs("rehearsal", Mode::Headless, &[], &[fault, ended]), [failed(TALK)]);
    let said = json!({"type": "text", "text": TALK});
    let well = json!({"type": "turn_ended", "result": "done"});
    assert!(!tells_of_a_limit(&signs("rehearsal", Mode::Headless, &[], &[said, well])));
}
