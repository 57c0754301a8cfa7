//! What a server says, and what no fault tells.

use super::*;

#[test]
fn what_a_server_says_is_told_by_its_kind() {
    let after = json!({"ok": false, "parameters": {"retry_after": 6775}});
    assert_eq!(refusal(429, &after), ChannelFault::TooMany(6775));
    assert_eq!(refusal(429, &Value::Null), ChannelFault::TooMany(RETRY_SECS));
    let gone = json!({"description": "Bad Request: message thread not found"});
    assert_eq!(refusal(400, &gone), ChannelFault::TopicGone);
    let moved = json!({"parameters": {"migrate_to_chat_id": -1009}});
    assert_eq!(refusal(400, &moved), ChannelFault::Moved(-1009));
    let muted = "Bad Request: not enough rights to send text messages to the chat";
    assert_eq!(refusal(400, &json!({"description": muted})), ChannelFault::Blocked);
    let rights = json!({"description": "Bad Request: not enough rights to create a topic"});
    assert!(matches!(refusal(400, &rights), ChannelFault::Refused(_)));
    assert_eq!(refusal(401, &Value::Null), ChannelFault::Unauthorized);
    assert_eq!(refusal(409, &Value::Null), ChannelFault::Conflict);
    assert_eq!(refusal(502, &Value::Null), ChannelFault::Server("502: no reason given".into()));
    assert!(matches!(refusal(200, &Value::Null), ChannelFault::Unreachable(_)));
}

/// A server that cannot be reached is told of without its address, which has the token in it.
#[test]
fn no_fault_tells_the_token() {
    let secret = format!("123456789:{}", "Zq".repeat(18));
    let token = Token::new(&secret).unwrap();
    for api in ["http://127.0.0.1:1", "http://no.such.host.invalid", "nonsense", "http://["] {
        let bot = Telegram::new(api, token.clone());
        let fault = bot.introduce().unwrap_err();
        let told = format!("{fault} {fault:?}");
        assert!(!told.contains("ZqZq") && !told.contains("123456789"), "{told}");
    }
}
