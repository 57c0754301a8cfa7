//! The four protocols over a real connection, and the gates.

use glis_stub_model::{
    AFTER_THE_SCRIPT, End, Model, Outcome, Protocol, Purpose, Step, Voice, prompt,
};
use serde_json::{Value, json};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

type Tried<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// What came back: status, headers as text, body with its chunks put together.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The data of a stream, event by event.
    fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data))).collect()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

fn send(model: &Model, method: &str, target: &str, body: &Value) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(model.url().trim_start_matches("http://"))?;
    let body = body.to_string();
    let length = body.len();
    let head = format!("{method} {target} HTTP/1.1\r\nSession_Id: s1\r\ncontent-length: {length}");
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes())?;
    Ok(stream)
}

fn receive(stream: TcpStream) -> Tried<Answer> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err("no head".into());
        }
    }
    let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = String::new();
    if let Some(length) = length {
        reader.take(length.parse()?).read_to_string(&mut body)?;
        return Ok(Answer { status, head, body });
    }
    loop {
        let mut size = String::new();
        // A stream that was cut ends here, without its last chunk.
        if reader.read_line(&mut size)? == 0 {
            body.push_str("(cut)");
            break;
        }
        let size = usize::from_str_radix(size.trim(), 16)?;
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk)?;
        if size == 0 {
            break;
        }
        body.push_str(std::str::from_utf8(chunk.get(..size).ok_or("short")?)?);
    }
    Ok(Answer { status, head, body })
}

fn ask(model: &Model, target: &str, body: &Value) -> Tried<Answer> {
    receive(send(model, "POST", target, body)?)
}

fn says(text: &str) -> Step {
    Step { text: Some(text.to_owned()), ..Step::default() }
}

fn looks() -> Step {
    let input = json!({"command": "ls"});
    Step { text: Some("I look.".to_owned()), tool: Some("look".to_owned()), input, ..says("") }
}

fn tool() -> Value {
    json!([{"name": "look"}])
}

#[test]
fn messages_stream_text_and_calls() -> Tried {
    let model = Model::start()?;
    let text = prompt("go", &[looks(), says("done")]);
    let mut body = json!({"model": "m", "stream": true, "tools": tool(),
        "messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]});
    let events = ask(&model, "/v1/messages?beta=true", &body)?.events();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let wanted =
        [&["message_start"], &block[..], &block[..], &["message_delta", "message_stop"]].concat();
    assert_eq!(kinds, wanted);
    assert_eq!(events[2]["delta"]["text"], "I look.");
    assert_eq!(events[5]["delta"]["partial_json"], r#"{"command":"ls"}"#);
    assert_eq!(events[7]["delta"]["stop_reason"], "tool_use");

    let call = &events[4]["content_block"];
    let more = [
        json!({"role": "assistant", "content": [call]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call["id"], "content": "a file"},
            {"type": "text", "text": "<system-reminder>be good</system-reminder>"}]}),
    ];
    body["messages"].as_array_mut().ok_or("no array")?.extend(more);
    body["stream"] = json!(false);
    let whole = ask(&model, "/v1/messages", &body)?.json();
    assert_eq!(whole["content"], json!([{"type": "text", "text": "done"}]));
    assert_eq!(whole["stop_reason"], "end_turn");
    let last = model.turns().pop().ok_or("no request")?;
    assert!(last.says(Voice::Tool, "a file") && last.says(Voice::Note, "be good"));
    assert!(last.prompt().starts_with("go "));
    Ok(())
}

#[test]
fn responses_stream_text_and_calls() -> Tried {
    let model = Model::start()?;
    let text = prompt("go", &[looks(), says("done")]);
    let user = json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": text}]});
    let mut body = json!({"model": "m", "stream": true, "tools": tool(), "input": [user]});
    let events = ask(&model, "/v1/responses", &body)?.events();
    let last = events.last().ok_or("no event")?;
    assert_eq!(last["type"], "response.completed");
    let output = last["response"]["output"].as_array().ok_or("no output")?;
    assert_eq!(output[0]["content"][0]["text"], "I look.");
    assert_eq!(output[1]["arguments"], r#"{"command":"ls"}"#);
    let numbers = events.iter().map(|event| event["sequence_number"].as_u64());
    assert!(numbers.eq((0..events.len() as u64).map(Some)));

    let result = json!({"type": "function_call_output", "call_id": output[1]["call_id"],
        "output": "a file"});
    let more = [output[0].clone(), output[1].clone(), result];
    body["input"].as_array_mut().ok_or("no array")?.extend(more);
    let events = ask(&model, "/v1/responses", &body)?.events();
    let last = events.last().ok_or("no event")?;
    assert_eq!(last["response"]["output"][0]["content"][0]["text"], "done");
    let received = model.turns().pop().ok_or("no request")?;
    assert!(received.says(Voice::Tool, "a file") && received.says(Voice::Model, "I look."));
    assert_eq!(received.conversation.as_deref(), Some("s1"));
    Ok(())
}

#[test]
fn a_tool_that_takes_plain_text_gets_plain_text() -> Tried {
    let model = Model::start()?;
    let step =
        Step { tool: Some("patch".to_owned()), input: json!("*** Begin"), ..Step::default() };
    let body = json!({"stream": false, "tools": [{"type": "custom", "name": "patch"}],
        "input": [{"role": "user", "content": [{"text": prompt("go", &[step])}]}]});
    let whole = ask(&model, "/v1/responses", &body)?.json();
    assert_eq!(whole["output"][0]["type"], "custom_tool_call");
    assert_eq!(whole["output"][0]["input"], "*** Begin");
    Ok(())
}

#[test]
fn a_tool_of_a_namespace_is_called_by_it() -> Tried {
    let model = Model::start()?;
    let step = Step { tool: Some("spawn".to_owned()), input: json!({}), ..Step::default() };
    let space = json!({"type": "namespace", "name": "helpers", "tools": [{"name": "spawn"}]});
    let body = json!({"stream": false, "tools": [{"type": "function", "name": "look"}, space],
        "input": [{"role": "user", "content": [{"text": prompt("go", &[step, looks()])}]}]});
    let whole = ask(&model, "/v1/responses", &body)?.json();
    let call = &whole["output"][0];
    assert_eq!((&call["name"], &call["namespace"]), (&json!("spawn"), &json!("helpers")));
    Ok(())
}

#[test]
fn chat_streams_text_and_calls() -> Tried {
    let model = Model::start()?;
    let text = prompt("go", &[looks(), says("done")]);
    let mut body = json!({"model": "m", "stream": true, "tools": tool(),
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": text}]});
    let events = ask(&model, "/v1/chat/completions", &body)?.events();
    let delta = |n: usize| &events[n]["choices"][0]["delta"];
    assert_eq!(delta(1)["content"], "I look.");
    assert_eq!(delta(2)["tool_calls"][0]["function"]["arguments"], r#"{"command":"ls"}"#);
    assert_eq!(events[3]["choices"][0]["finish_reason"], "tool_calls");
    assert!(events[4]["usage"]["total_tokens"].as_u64() > Some(0));
    assert_eq!(events[5], "[DONE]");

    let more = [
        json!({"role": "assistant", "content": "I look.", "tool_calls": delta(2)["tool_calls"]}),
        json!({"role": "tool", "content": "a file"}),
    ];
    body["messages"].as_array_mut().ok_or("no array")?.extend(more);
    body["stream"] = json!(false);
    let whole = ask(&model, "/v1/chat/completions", &body)?.json();
    assert_eq!(whole["choices"][0]["message"]["content"], "done");
    assert!(model.turns()[1].says(Voice::Tool, "a file"));
    Ok(())
}

#[test]
fn gemini_streams_text_and_calls() -> Tried {
    let model = Model::start()?;
    let text = prompt("go", &[looks(), says("done")]);
    let mut body = json!({"tools": [{"functionDeclarations": []}],
        "contents": [{"role": "user", "parts": [{"text": text}]}]});
    let target = "/v1beta/models/m:streamGenerateContent?alt=sse";
    let events = ask(&model, target, &body)?.events();
    let parts = |n: usize| &events[n]["candidates"][0]["content"]["parts"];
    assert_eq!(parts(1)[0]["text"], "I look.");
    assert_eq!(parts(2)[0]["functionCall"]["args"], json!({"command": "ls"}));
    assert_eq!(events[3]["candidates"][0]["finishReason"], "STOP");

    let result = json!({"functionResponse": {"name": "look", "response": {"output": "a file"}}});
    let more = [
        json!({"role": "model", "parts": [{"text": "I look."}, parts(2)[0]]}),
        json!({"role": "user", "parts": [result]}),
    ];
    body["contents"].as_array_mut().ok_or("no array")?.extend(more);
    let whole = ask(&model, "/v1beta/models/m:generateContent", &body)?.json();
    assert_eq!(whole["candidates"][0]["content"]["parts"][0]["text"], "done");
    assert!(model.turns()[1].says(Voice::Tool, "a file"));
    Ok(())
}

#[test]
fn what_is_asked_beside_a_conversation_is_told_apart_and_answered() -> Tried {
    let model = Model::start()?;
    let text = prompt("go", &[says("secret")]);
    let title = json!({"messages": [{"role": "user", "content": text}], "output_config":
        {"format": {"schema": {"type": "object", "properties": {"title": {"type": "string"}}}}}});
    let answer = ask(&model, "/v1/messages", &title)?.json();
    let said = answer["content"][0]["text"].as_str().unwrap_or_default();
    assert!(serde_json::from_str::<Value>(said)?["title"].is_string(), "{said}");
    let count = ask(&model, "/v1/messages/count_tokens", &json!({}))?.json();
    assert!(count["input_tokens"].as_u64() > Some(0));
    let count = ask(&model, "/v1beta/models/m:countTokens", &json!({}))?.json();
    assert!(count["totalTokens"].as_u64() > Some(0));
    assert_eq!(ask(&model, "/elsewhere", &json!({}))?.status, 404);
    assert!(model.turns().is_empty());
    let purposes: Vec<Purpose> = model.requests().iter().map(|r| r.purpose).collect();
    assert_eq!(purposes, [Purpose::Side, Purpose::Other, Purpose::Other, Purpose::Other]);
    Ok(())
}

fn chat_with(step: &Step) -> Value {
    let text = prompt("go", std::slice::from_ref(step));
    json!({"stream": true, "tools": tool(), "messages": [{"role": "user", "content": text}]})
}

#[test]
fn failures_carry_what_each_protocol_says_about_them() -> Tried {
    let model = Model::start()?;
    let step = Step {
        err: Some(429),
        retry_after: Some(7),
        limit_until: Some(2_000_000_000),
        ..Step::default()
    };
    let answer = ask(&model, "/v1/messages", &chat_with(&step))?;
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (429, &json!("rate_limit_error")));
    assert!(answer.head.contains("retry-after: 7\r\n"), "{}", answer.head);
    assert!(answer.head.contains("unified-reset: 2000000000\r\n"), "{}", answer.head);
    let text = prompt("go", std::slice::from_ref(&step));
    let body = json!({"tools": tool(), "input": text});
    let error = ask(&model, "/v1/responses", &body)?.json();
    assert_eq!(error["error"]["resets_at"], 2_000_000_000);
    let body = json!({"tools": tool(), "contents": [{"role": "user", "parts": [{"text": text}]}]});
    let error = ask(&model, "/v1beta/models/m:generateContent", &body)?.json();
    assert_eq!(error["error"]["status"], "RESOURCE_EXHAUSTED");
    assert_eq!(error["error"]["details"][0]["retryDelay"], "7s");
    let first = model
        .until(|received| received.number == 1 && received.outcome == Some(Outcome::Failed(429)))?;
    assert_eq!(first.protocol, Some(Protocol::Messages));
    Ok(())
}

#[test]
fn a_step_can_fail_a_few_times_before_it_is_done() -> Tried {
    let model = Model::start()?;
    let step = Step { err: Some(529), times: Some(2), ..says("at last") };
    let body = chat_with(&step);
    let status = || ask(&model, "/v1/chat/completions", &body).map(|answer| answer.status);
    assert_eq!((status()?, status()?, status()?), (529, 529, 200));
    Ok(())
}

#[test]
fn a_slip_in_a_script_fails_the_request() -> Tried {
    let model = Model::start()?;
    let body = json!({"tools": tool(), "messages":
        [{"role": "user", "content": r#"@@{"steps":[{"txet":"x"}]}@@"#}]});
    let answer = ask(&model, "/v1/chat/completions", &body)?;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("txet"), "{}", answer.body);
    Ok(())
}

#[test]
fn a_gate_holds_an_answer_in_the_middle_and_lets_it_go() -> Tried {
    let model = Model::start()?;
    let step =
        Step { hold: Some("middle".to_owned()), more: Some(" late".to_owned()), ..says("early") };
    let stream = send(&model, "POST", "/v1/chat/completions", &chat_with(&step))?;
    model.until_held("middle")?;
    // All that comes before the gate can be read while it is shut.
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut seen = String::new();
    while !seen.contains("early") {
        assert!(reader.read_line(&mut seen)? > 0, "{seen}");
    }
    assert!(!seen.contains("late"));
    assert_eq!(model.requests()[0].outcome, None);
    model.open("middle");
    model.until_left("middle")?;
    reader.get_ref().set_read_timeout(Some(std::time::Duration::from_secs(30)))?;
    while !seen.contains("[DONE]") {
        assert!(reader.read_line(&mut seen)? > 0, "{seen}");
    }
    assert!(seen.contains(" late"));
    model.until(|received| received.outcome == Some(Outcome::Answered))?;
    Ok(())
}

#[test]
fn a_client_that_hangs_up_at_a_gate_is_noticed() -> Tried {
    let model = Model::start()?;
    for step in [
        Step { hold: Some("a".to_owned()), ..says("x") },
        Step { hold_first: Some("b".to_owned()), ..says("x") },
        Step { end: End::Hang, ..says("x") },
    ] {
        let before = model.requests().len();
        let stream = send(&model, "POST", "/v1/chat/completions", &chat_with(&step))?;
        let gate = step.hold.or(step.hold_first).unwrap_or_else(|| "(never)".to_owned());
        model.until_held(&gate)?;
        drop(stream);
        model.until(|r| r.number > before && r.outcome == Some(Outcome::ClientGone))?;
        model.until_left(&gate)?;
    }
    Ok(())
}

#[test]
fn an_answer_can_break_off() -> Tried {
    let model = Model::start()?;
    let step = Step { end: End::Cut, ..says("half") };
    let answer = ask(&model, "/v1/chat/completions", &chat_with(&step))?;
    assert!(answer.body.contains("half") && answer.body.ends_with("(cut)"), "{}", answer.body);
    Ok(())
}

/// Why an answer stops short stands in the last event of each protocol that has something to say.
#[test]
fn an_answer_can_stop_short() -> Tried {
    let model = Model::start()?;
    let told = |end, target: &str, by: &dyn Fn(String) -> Value| {
        let step = Step { end, ..says("half") };
        let mut body = by(prompt("go", &[step]));
        body["stream"] = json!(true);
        body["tools"] = tool();
        ask(&model, target, &body).map(|answer| answer.body)
    };
    let message = |text: String| json!({"messages": [{"role": "user", "content": text}]});
    let input = |text: String| json!({ "input": text });
    let contents =
        |text: String| json!({"contents": [{"role": "user", "parts": [{ "text": text }]}]});
    let gemini = "/v1beta/models/m:streamGenerateContent";
    for (target, by, words) in [
        (
            "/v1/messages",
            &message as &dyn Fn(String) -> Value,
            ["refusal", "max_tokens", "too long"],
        ),
        ("/v1/chat/completions", &message, ["content_filter", "length", "context_length_exceeded"]),
        (
            "/v1/responses",
            &input,
            ["content_filter", "max_output_tokens", "context_length_exceeded"],
        ),
        (gemini, &contents, ["SAFETY", "MAX_TOKENS", "exceeds the maximum"]),
    ] {
        for (end, words) in [End::Refusal, End::Length, End::TooLong].into_iter().zip(words) {
            let body = told(end, target, by)?;
            assert!(body.contains(words), "{target} {end:?}: {body}");
        }
    }
    Ok(())
}

#[test]
fn slow_words_come_one_by_one() -> Tried {
    let model = Model::start()?;
    let step = Step { slow: Some(3), delay: Some(0.01), ..Step::default() };
    let events = ask(&model, "/v1/chat/completions", &chat_with(&step))?.events();
    let words = events.iter().filter_map(|e| e["choices"][0]["delta"]["content"].as_str());
    assert_eq!(words.collect::<Vec<_>>(), ["", "word0 ", "word1 ", "word2 "]);
    Ok(())
}

#[test]
fn the_server_tells_what_it_received() -> Tried {
    let model = Model::start()?;
    ask(&model, "/v1/chat/completions", &chat_with(&says("x")))?;
    // The answer is read before its end is written down.
    model.until(|received| received.outcome.is_some())?;
    let get = |path: &str| receive(send(&model, "GET", path, &Value::Null)?);
    let list = get("/-/requests")?.json();
    assert_eq!((&list[0]["number"], &list[0]["outcome"]), (&json!(1), &json!("answered")));
    let one = get("/-/requests/1")?.json();
    assert_eq!(one["body"]["stream"], true);
    assert_eq!(get("/-/requests/2")?.status, 404);
    let gates = receive(send(&model, "POST", "/-/gates/g/open", &Value::Null)?)?.json();
    assert_eq!(gates, json!([{"name": "g", "open": true, "waiting": 0}]));
    assert_eq!(model.requests().len(), 1);
    Ok(())
}

#[test]
fn a_script_ends() -> Tried {
    let model = Model::start()?;
    let mut body = chat_with(&says("x"));
    let answer = json!({"role": "assistant", "content": "x"});
    body["messages"].as_array_mut().ok_or("no array")?.push(answer);
    let answer = ask(&model, "/v1/chat/completions", &body)?;
    assert!(answer.body.contains(AFTER_THE_SCRIPT), "{}", answer.body);
    Ok(())
}
