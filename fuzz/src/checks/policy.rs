//! A policy file.

use git_score_context::policy::Policy;

use super::support::{check_growth, copies};

/// A text is a policy that prints and reads as itself, or one sentence that can be shown.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Policy::parse(&text) {
        Ok(policy) => {
            let printed = print(&policy);
            assert_eq!(Policy::parse(&printed).as_ref(), Ok(&policy), "{printed}");
            let stored = serde_json::to_vec(&policy).expect("a policy has a JSON form");
            let back: Policy =
                serde_json::from_slice(&stored).expect("what was written can be read");
            assert_eq!(back, policy);
            assert_eq!(
                serde_json::to_vec(&back).expect("a policy has a JSON form"),
                stored
            );
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(
                !sentence.is_empty() && !sentence.contains(['\n', '\r']),
                "{sentence:?}"
            );
        }
    }
}

/// As a file: what `policy show` lists, in TOML.
fn print(policy: &Policy) -> String {
    let mut text = "version = 1\n".to_owned();
    let mut table = "";
    for entry in policy.entries() {
        let (of, name) = entry
            .key
            .split_once('.')
            .expect("every key stands in a table");
        if of != table {
            text.push_str(&format!("[{of}]\n"));
            table = of;
        }
        // What the rule in force does not use has no value.
        if entry.value.as_str() != Some("unused") {
            text.push_str(&format!("{name} = {}\n", entry.value));
        }
    }
    text
}

/// A file of many of these.
pub fn slow(bytes: &[u8]) {
    let read = |bytes: &[u8]| drop(Policy::parse(&String::from_utf8_lossy(bytes)));
    check_growth(|size| copies(bytes, b"", size), read);
    check_growth(
        |size| [b"version = 1\nx = [", &copies(bytes, b",", size)[..], b"]"].concat(),
        read,
    );
}
