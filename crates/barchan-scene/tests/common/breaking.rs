//! A valid scene to be broken, one rule at a time.

use super::*;

/// A scene with one of everything, to break.
pub const SCENE: &str = include_str!("one_of_everything.toml");

/// Replaces `from` by `to` and expects exactly one error with that message, marking exactly `marked` in `to`.
#[track_caller]
pub fn expect(base: &str, from: &str, to: &str, message: &str, marked: &str) {
    assert!(base.contains(from), "{from:?} is not in the scene");
    let text = base.replacen(from, to, 1);
    let errors = bad(&text);
    let shown = show(&errors);
    assert_eq!(errors.errors().len(), 1, "{shown}");
    let error = &errors.errors()[0];
    assert!(error.message().contains(message), "{shown}");
    assert_eq!(error.marked(), Some(marked), "{shown}");
    assert_eq!(error.source_name(), Some("test.toml"));
    let at = match to.rfind(marked) {
        Some(i) => base.find(from).unwrap() + i,
        None => text.find(marked).unwrap(),
    };
    let line = 1 + text[..at].matches('\n').count();
    assert_eq!(error.line(), Some(line), "{shown}");
    assert!(!error.help_text().is_empty(), "{shown}");
}

/// The same for [`SCENE`].
#[track_caller]
pub fn refuse(from: &str, to: &str, message: &str, marked: &str) {
    expect(SCENE, from, to, message, marked);
}

/// The same for a list of changes: replaced text, replacement, message, marked text.
#[track_caller]
pub fn refuse_each(base: &str, changes: &[[&str; 4]]) {
    for [from, to, message, marked] in changes {
        expect(base, from, to, message, marked);
    }
}
