//! Tokens in files.

use super::*;

#[test]
fn a_token_is_read_from_a_private_file_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(CREDENTIAL);
    let secret = format!("123456789:{}", "a".repeat(35));
    std::fs::write(&path, format!("{secret}\n")).unwrap();
    let set = |mode| {
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, rights).unwrap();
    };
    set(0o644);
    assert_eq!(read_token(Some(&path), None).err(), Some(TokenFault::Open(path.clone())));
    set(0o600);
    assert_eq!(read_token(Some(&path), None).ok().map(|t| t.reveal().to_owned()), Some(secret));
    assert!(read_token(None, Some(dir.path())).is_ok());
    assert_eq!(read_token(None, None).err(), Some(TokenFault::Unset));
    std::fs::write(&path, "hunter2").unwrap();
    let fault = read_token(Some(&path), None).err().unwrap();
    assert_eq!(fault, TokenFault::Shapeless(path.clone()));
    assert!(!fault.to_string().contains("hunter2"));
    let gone = read_token(Some(&dir.path().join("none")), None).err().unwrap();
    assert!(matches!(gone, TokenFault::Unread { .. }));
}
