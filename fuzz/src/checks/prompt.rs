//! What goes into a prompt: the block of stored texts, the section in a planner's prompt, the call of an agent's program.

use git_score_context::cli::{probe_answer, probe_call};
use git_score_context::hook::Client;
use git_score_context::id::RecordId;
use git_score_context::policy::Policy;
use git_score_context::record::{Kind, Verdict};
use git_score_context::render::{
    FRAME, NONE_YET, SECTION, Shown, task_of, untrusted_block, untrusted_lines, visible,
    with_section,
};
use serde_json::Value;
use unicode_general_category::{GeneralCategory, get_general_category};

use super::support::{check_growth, copies};

/// The first two bytes choose the limits of the block; the rest is a prompt, a stored text and a call.
pub fn check(bytes: &[u8]) {
    let (limits, rest) = bytes.split_at(bytes.len().min(2));
    let text = String::from_utf8_lossy(rest);
    check_visible(&text);
    let limits = Policy {
        max_prior_chars: 1 + u64::from(limits.first().copied().unwrap_or(200)) * 5,
        max_prior_total_chars: 1 + u64::from(limits.last().copied().unwrap_or(200)) * 40,
        ..Policy::default()
    };
    let block = block(&text, &limits);
    check_block(&block, &limits);
    check_lines(&text, &limits);
    check_section(rest, &block);
    check_call(rest, &block);
}

/// Characters that show nothing, turn the direction or move the cursor: controls, format characters, and whatever Unicode says is to be
/// ignored where it cannot be shown. The two variation selectors of emoji are none, unless they stand in a run.
fn is_active(character: char) -> bool {
    use GeneralCategory as G;
    let category = get_general_category(character);
    matches!(
        category,
        G::Control | G::Format | G::LineSeparator | G::ParagraphSeparator | G::Surrogate
    ) || matches!(
        u32::from(character),
        0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
            | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0D | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8 | 0x1BCA0..=0x1BCA3
            | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF
    )
}

/// What still shows and must not: fault 11 of issue 11 is open. With it goes this function.
fn is_open(character: char, is_run: bool) -> bool {
    is_run || matches!(u32::from(character), 0x2065 | 0xFFF0..=0xFFF8)
}

/// The first thing in a text that could hide or deceive, with what follows it. `strict` also finds what is still open.
pub fn hidden(text: &str, strict: bool) -> Option<String> {
    let is_selector = |character: char| matches!(u32::from(character), 0xFE0E | 0xFE0F);
    let mut before = None;
    for (at, character) in text.char_indices() {
        let is_run = is_selector(character) && before.is_some_and(is_selector);
        let is_found = is_run || is_active(character) && character != '\n';
        if is_found && (strict || !is_open(character, is_run)) {
            let start = text[at..].chars().take(8);
            return Some(start.flat_map(char::escape_unicode).collect());
        }
        before = Some(character);
    }
    None
}

fn check_visible(text: &str) {
    let shown = visible(text);
    assert_eq!(hidden(&shown, false), None, "{text:?}");
    assert!(!shown.contains('\n'), "one line: {shown:?}");
    assert_eq!(visible(&shown), shown, "twice is once");
}

fn shown<'a>(text: &'a str, reasons: &'a [String]) -> Shown<'a> {
    Shown {
        id: RecordId::of(text.as_bytes()),
        kind: Kind::ALL[text.len() % Kind::ALL.len()],
        text,
        reasons,
        nodes: reasons,
        session: Some(text),
        verdict: Some(Verdict::Fail),
        score: Some(0.5),
    }
}

fn block(text: &str, limits: &Policy) -> String {
    let reasons: Vec<String> = text.split('\u{1}').map(str::to_owned).collect();
    let records = [shown(text, &reasons), shown(&reasons[0], &[])];
    untrusted_block(&records, limits)
}

/// One opening and one closing mark, whatever is in between, within the limit.
fn check_block(block: &str, limits: &Policy) {
    let most = usize::try_from(limits.max_prior_total_chars).expect("a small number");
    assert!(
        block.len() <= most.max(FRAME),
        "{} bytes of {most}",
        block.len()
    );
    assert_eq!(hidden(block, false), None, "{block:?}");
    assert!(
        block.starts_with("<untrusted-prior-context hash=\""),
        "{block:?}"
    );
    assert!(
        block.ends_with("</untrusted-prior-context>\n")
            || block.ends_with("</untrusted-prior-context>"),
        "{block:?}"
    );
    assert_eq!(
        (block.matches('<').count(), block.matches('>').count()),
        (2, 2),
        "{block:?}"
    );
}

fn check_lines(text: &str, limits: &Policy) {
    let lines = [
        ("goal 1f0c".to_owned(), text),
        ("decision 2a".to_owned(), text),
    ];
    check_block(&untrusted_lines(&lines, limits), limits);
}

/// Twice is once, another body changes the section alone, and the prompt stands in the result as it was.
fn check_section(prompt: &[u8], block: &str) {
    let once = with_section(prompt, block);
    assert_eq!(with_section(&once, block), once, "twice is once");
    let empty = with_section(&once, NONE_YET);
    assert_eq!(with_section(&empty, block), once, "there and back");
    assert_eq!(task_of(&once), task_of(prompt), "the same task");
    let heading = once
        .windows(SECTION.len())
        .filter(|part| *part == SECTION.as_bytes());
    assert!(heading.count() > 0, "the section is there");
    let text = String::from_utf8_lossy(prompt).to_ascii_lowercase();
    if !text.contains("decisions") {
        let before = prompt.iter().zip(&once).take_while(|(a, b)| a == b).count();
        let after = prompt
            .iter()
            .rev()
            .zip(once.iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        assert!(
            before + after >= prompt.len(),
            "the prompt is unchanged around the section"
        );
    }
}

/// A call is JSON with a prompt or nothing, and the answer is JSON that holds the block or nothing.
fn check_call(call: &[u8], block: &str) {
    if let Some((prompt, _)) = probe_call(call) {
        assert!(prompt.len() <= call.len() * 3);
    }
    for client in Client::ALL {
        for is_prompt in [true, false] {
            let Some(answer) = probe_answer(client, block, is_prompt) else {
                continue;
            };
            assert!(
                answer.chars().count() < 9_000 && !answer.contains('\n'),
                "{answer}"
            );
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            let inner = answer.get("hookSpecificOutput").unwrap_or(&answer);
            let text = inner
                .get("additionalContext")
                .or(inner.get("additional_context"));
            assert_eq!(text.and_then(Value::as_str), Some(block));
        }
    }
}

/// A prompt of many of these.
pub fn slow(bytes: &[u8]) {
    let policy = Policy::default();
    for between in [&b""[..], b"\n", b"\n\n## "] {
        let make = |size| copies(bytes, between, size);
        check_growth(make, |prompt| drop(with_section(prompt, NONE_YET)));
        check_growth(make, |prompt| drop(task_of(prompt)));
        check_growth(make, |text| drop(visible(&String::from_utf8_lossy(text))));
        check_growth(make, |text| {
            drop(block(&String::from_utf8_lossy(text), &policy))
        });
    }
    check_growth(
        |size| copies(bytes, b"", size),
        |call| drop(probe_call(call)),
    );
}
