//! `forget --text`, and what `forget` says afterwards: after it and Git's own clean-up no byte of the Git directory holds the phrase, whatever form
//! it was stored in; and where one does, it says so.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::forget::{files_holding, objects_hold};
use crate::support::{ATTENTION, RECORDS, Sandbox, collect, id_of, string, strings};

/// What is to be forgotten: no word of it stands anywhere else.
const SECRET: &str = "the quokka vault opens with marmalade";

/// No object, no cache, no log and no other file of the Git directory holds these bytes.
#[track_caller]
fn assert_gone(sandbox: &Sandbox, texts: &[&str]) {
    sandbox.collect_garbage();
    for text in texts {
        assert!(!objects_hold(sandbox, text), "an object holds '{text}'");
        assert_eq!(files_holding(sandbox, text), Vec::<String>::new());
        let mut command = sandbox.command("grep", "r");
        command.args(["-rlaF", text, ".git"]);
        let said = collect(command, None);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "'{text}'");
    }
}

#[track_caller]
fn forget_text(sandbox: &Sandbox, phrase: &str, code: i32) -> Value {
    let said = sandbox.feed(phrase.as_bytes(), code, &["forget", "--text", "--json"]);
    assert!(
        !said.out.contains("quokka") && !said.err.contains("quokka"),
        "{said:?}"
    );
    serde_json::from_str(&said.out).expect("one document")
}

fn look_up(sandbox: &Sandbox, task: &str) -> String {
    string(&sandbox.json(&["query", task, "--node", "src"])["attention_id"])
}

/// Puts a blob into the tree behind a reference.
fn plant(sandbox: &Sandbox, reference: &str, path: &str, content: &str) {
    let mut entries = match reference {
        RECORDS | ATTENTION => sandbox.entries(reference),
        _ => Default::default(),
    };
    let blob = sandbox.blob(content);
    entries.insert(path.to_owned(), ("100644".to_owned(), blob));
    sandbox.set_entries(reference, &entries);
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    sandbox.replays_in("r").into_keys().collect()
}

#[test]
fn a_look_up_that_quotes_half_the_sentence_goes_with_the_record() {
    let sandbox = Sandbox::new();
    sandbox.record("vault keys are rotated", &["src"]);
    let id = sandbox.record_with(
        SECRET,
        &["src"],
        &["--reason", "the safe of Bilby needs zx81kappa"],
    );
    let quoting: Vec<String> = [
        "does it still say the QUOKKA vault opens",
        "and \"opens, with\nmarmalade\"?",
        "quokka vault",
        "where is zx81kappa used",
    ]
    .map(|task| look_up(&sandbox, task))
    .into();
    let node = sandbox.json(&["query", "x", "--node", "opens with marmalade"]);
    let node = string(&node["attention_id"]);
    let alone = look_up(&sandbox, "what is marmalade");
    let other = look_up(&sandbox, "rotate the keys of the vault");

    let plan = sandbox.json(&["forget", &id, "--dry-run"]);
    assert_eq!(plan["dry_run"], true);
    assert!(sandbox.log_ids().contains(&id), "nothing was changed");
    let done = sandbox.json(&["forget", &id]);
    for said in [&plan, &done] {
        let dropped = strings(&said["dropped"]);
        assert!(
            quoting.iter().chain([&node]).all(|id| dropped.contains(id)),
            "{said}"
        );
        assert_eq!(dropped.len(), quoting.len() + 1);
    }
    assert_eq!(strings(&done["rare_word"]), std::slice::from_ref(&alone));
    sandbox.expect_replay(&other, "removed");
    sandbox.expect_replay(&alone, "removed");
    sandbox.run(&["forget", &alone]);
    assert_gone(&sandbox, &["quokka", "marmalade", "zx81kappa", "Bilby"]);
    assert_eq!(names(&sandbox), [other]);
}

#[test]
fn a_phrase_goes_from_records_look_ups_notes_caches_and_logs() {
    let sandbox = Sandbox::new();
    sandbox.git(&["config", "core.logAllRefUpdates", "always"]);
    sandbox.run(&["hook", "install"]);
    let kept = sandbox.record("keys are rotated", &["src"]);
    let id = sandbox.record(&format!("we say: {SECRET}, always"), &["src"]);
    let reason = sandbox.record_with("see the reason", &["src"], &["--reason", SECRET]);
    let session = sandbox.json(&["session", "start", SECRET]);
    let asked = look_up(&sandbox, &format!("why\n  {SECRET}?"));
    sandbox.git(&[
        "notes",
        "--ref=score-local",
        "append",
        "-m",
        &format!("by hand: {SECRET}"),
    ]);
    sandbox.git(&[
        "notes",
        "--ref=score-local",
        "append",
        "-m",
        "by hand: stays",
    ]);
    sandbox.write(&[
        (".git/score-context/prompts/x", SECRET),
        (".git/score-context/graph-x.bin", SECRET),
    ]);
    for n in 0..40 {
        sandbox.record(&format!("fill the index {n}"), &[]);
    }
    let pinned = look_up(&sandbox, "fill the index");
    sandbox.expect_replay(&pinned, "removed");

    let plan = sandbox.feed(SECRET.as_bytes(), 0, &["forget", "--text", "--dry-run"]);
    assert!(
        plan.out
            .contains(&format!("{id}  decision would be forgotten")),
        "{}",
        plan.out
    );
    assert!(
        plan.out
            .contains(&format!("{asked}  look-up would be dropped")),
        "{}",
        plan.out
    );
    assert!(!plan.out.contains("quokka") && !plan.err.contains("quokka"));
    assert!(sandbox.log_ids().contains(&id), "nothing was changed");
    // Other white space, and a line break at the end.
    let done = forget_text(
        &sandbox,
        "the quokka\n\tvault opens   with marmalade\n\n",
        0,
    );
    let forgotten = strings(&done["forgotten"]);
    for id in [&id, &reason, &string(&session["session"])] {
        assert!(forgotten.contains(id), "{done}");
    }
    assert_eq!(forgotten.len(), 4, "and the goal of the session");
    assert!(strings(&done["dropped"]).contains(&asked));
    assert_eq!(done["held"], json!([]));
    assert_gone(&sandbox, &["quokka"]);
    let notes = sandbox.git(&["log", "--notes=score-local", "--format=%N"]);
    assert!(
        notes.contains("by hand: stays") && notes.contains("keys are rotated"),
        "{notes}"
    );
    assert!(sandbox.log_ids().contains(&kept));
    sandbox.run(&["fsck"]);
    let again = forget_text(&sandbox, SECRET, 0);
    assert_eq!(again["forgotten"], json!([]));
}

#[test]
fn texts_with_escapes_are_found_as_they_were_said() {
    let sandbox = Sandbox::new();
    let text = "say \"quokka\"\nto C:\\vault /ключ\u{1f511}\u{e9}";
    let id = sandbox.record(text, &["src"]);
    let asked = look_up(&sandbox, &format!("about {text}"));
    let lower = look_up(&sandbox, "the Quokka of another case");
    sandbox.expect_replay(&lower, "removed");
    // A newer version writes the same with every escape there is.
    let line = r#"{"v":99,"type":"insight","body":{"text":"say \u0022\u0071uokka\u0022\u000ato C:\\vault \/\u043a\u043b\u044e\u0447\ud83d\udd11\u00e9"}}"#;
    plant(
        &sandbox,
        RECORDS,
        &format!("2026-11-30/{}.json", id_of(line)),
        &format!("{line}\n"),
    );
    let done = forget_text(&sandbox, text, 0);
    let mut expected = vec![id, id_of(line)];
    expected.sort();
    assert_eq!(strings(&done["forgotten"]), expected);
    assert_eq!(strings(&done["dropped"]), [asked]);
    assert_gone(&sandbox, &["quokka", "u0071", "\u{1f511}"]);
    assert_eq!(names(&sandbox), [lower]);
}

#[test]
fn what_this_version_cannot_read_goes_by_id_or_by_phrase() {
    let newer = format!(
        r#"{{"type":"insight","version":99,"of":["x"],"deep":{{"text":["{SECRET}"]}},"more":true}}"#
    );
    let extra = format!(
        r#"{{"type":"tombstone","of":"{}","why":"withdrawn","note":"{SECRET}"}}"#,
        id_of("x")
    );
    let cut =
        format!(r#"{{"type":"reasoning","source":"session","kind":"decision","text":"{SECRET}"#);
    for line in [&newer, &cut, &extra] {
        for by_phrase in [false, true] {
            let sandbox = Sandbox::new();
            sandbox.leave_unchecked();
            let kept = sandbox.record("keys are rotated", &["src"]);
            let id = id_of(line);
            plant(
                &sandbox,
                RECORDS,
                &format!("2026-11-30/{id}.json"),
                &format!("{line}\n"),
            );
            let asked = look_up(&sandbox, "what of the quokka vault opens");
            let pinned = look_up(&sandbox, "rotate keys");
            let is_stone = line == &extra;
            match by_phrase {
                true => {
                    let done = forget_text(&sandbox, SECRET, 0);
                    let of = if is_stone { id_of("x") } else { id };
                    assert_eq!(
                        strings(&done["forgotten"]),
                        std::slice::from_ref(&of),
                        "{line}"
                    );
                    assert_eq!(
                        sandbox.json(&["show", &of])["tombstone"]["why"],
                        "forgotten"
                    );
                }
                // A tombstone is named by what it is of.
                false if is_stone => continue,
                false => {
                    let done = sandbox.json(&["forget", &id[..9]]);
                    assert_eq!(strings(&done["dropped"]), [asked], "{line}");
                    assert_eq!(
                        sandbox.json(&["show", &id])["tombstone"]["why"],
                        "forgotten"
                    );
                }
            }
            if !is_stone {
                assert_gone(&sandbox, &["vault opens with", "marmalade"]);
            }
            assert!(sandbox.log_ids().contains(&kept));
            assert!(names(&sandbox).contains(&pinned));
            sandbox.run(&["fsck"]);
        }
    }
}

#[test]
fn damaged_blobs_and_segments_lose_the_line_alone() {
    let sandbox = Sandbox::new();
    sandbox.leave_unchecked();
    let lines: Vec<_> = (0..30)
        .map(|n| json!({"text": format!("number {n}")}))
        .collect();
    sandbox.record_lines(&lines);
    // A segment with bytes that are no text, and a single record that is not what its name says.
    let (path, (_, blob)) = sandbox
        .entries(RECORDS)
        .into_iter()
        .next()
        .expect("a segment");
    let mut bytes = sandbox.content(&blob).into_bytes();
    bytes.extend_from_slice(b"{\"type\":\"reasoning\",\"text\":\"\xff\xfe quokka\"}\n");
    let object = sandbox.git_fed(&bytes, &["hash-object", "-w", "--stdin"]);
    let mut entries = sandbox.entries(RECORDS);
    entries.insert(path, ("100644".to_owned(), object));
    let name = id_of("another");
    let changed =
        sandbox.blob("{\"type\":\"reasoning\",\"source\":\"session\",\"text\":\"quokka two\"}\n");
    entries.insert(
        format!("2026-11-30/{name}.json"),
        ("100644".to_owned(), changed),
    );
    sandbox.set_entries(RECORDS, &entries);
    sandbox.run(&["forget", &name[..12]]);
    let done = forget_text(&sandbox, "quokka", 0);
    assert_eq!(strings(&done["forgotten"]).len(), 1, "{done}");
    assert_gone(&sandbox, &["quokka"]);
    assert_eq!(sandbox.log_ids().len(), 30);
}

#[test]
fn anchors_and_labels_count_as_well() {
    let sandbox = Sandbox::new();
    sandbox.git(&["checkout", "-q", "-b", "quokka-branch"]);
    let anchored = sandbox.record("said on a branch", &["src"]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.git(&["branch", "-q", "-D", "quokka-branch"]);
    let labelled = sandbox.record_with("with a label", &[], &["--task", "quokka-branch"]);
    let done = sandbox.json(&["outcome", "quokka-branch", "--verdict", "pass"]);
    // An expired outcome leaves its label.
    sandbox.step(200 * 86_400);
    let young = sandbox.record_with("young", &[], &["--task", "quokka-branch"]);
    sandbox.run(&["prune", "--force"]);
    drop((done, anchored, labelled));
    let said = forget_text(&sandbox, "quokka-branch", 1);
    assert!(strings(&said["forgotten"]).contains(&young), "{said}");
    assert!(
        said["history"].to_string().contains("logs"),
        "the log of HEAD names the branch"
    );
    assert_gone(&sandbox, &["quokka"]);
}

#[test]
fn a_pack_that_is_kept_is_named() {
    let sandbox = Sandbox::new();
    let id = sandbox.record(SECRET, &["src"]);
    sandbox.git(&["repack", "-adq"]);
    let packs = sandbox.path(".git/objects/pack");
    let pack = fs::read_dir(&packs)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path());
    let pack: Vec<PathBuf> = pack
        .filter(|path| path.extension().is_some_and(|end| end == "pack"))
        .collect();
    let keep = pack[0].with_extension("keep");
    fs::write(&keep, "").expect("written");
    let said = sandbox.exits(1, &["forget", &id]);
    let name = pack[0]
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    assert!(
        said.err.contains(&name) && said.err.contains(".keep"),
        "{}",
        said.err
    );
    sandbox.collect_garbage();
    assert!(objects_hold(&sandbox, "quokka"), "Git keeps such a pack");
    let said = forget_text(&sandbox, SECRET, 1);
    assert!(said["held"].to_string().contains(&name), "{said}");
    fs::remove_file(&keep).expect("removed");
    forget_text(&sandbox, SECRET, 0);
    assert_gone(&sandbox, &["quokka"]);
}

#[test]
fn what_is_not_ours_is_named_and_left() {
    let sandbox = Sandbox::new();
    let id = sandbox.record(SECRET, &["src"]);
    sandbox.git(&["update-ref", "refs/score-local/copy", RECORDS]);
    sandbox.git(&["update-ref", "refs/backup/records", RECORDS]);
    sandbox.commit(&[("notes.txt", SECRET)], "plain");
    plant(&sandbox, "refs/score-local/else", "a/b/mine.txt", SECRET);
    let said = sandbox.feed(SECRET.as_bytes(), 1, &["forget", "--text"]);
    for name in [
        "refs/score-local/copy",
        "refs/backup/records",
        "refs/heads/main",
        "a/b/mine.txt",
    ] {
        assert!(said.err.contains(name), "{name}: {}", said.err);
    }
    assert!(!sandbox.log_ids().contains(&id));
    for name in [
        "refs/score-local/copy",
        "refs/backup/records",
        "refs/score-local/else",
    ] {
        sandbox.git(&["update-ref", "-d", name]);
    }
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let said = forget_text(&sandbox, SECRET, 1);
    assert!(said["history"].to_string().contains("logs"), "{said}");
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    forget_text(&sandbox, SECRET, 0);
    assert_gone(&sandbox, &["quokka"]);
}

#[test]
fn code_that_only_look_ups_hold_goes_with_them() {
    let sandbox = Sandbox::new();
    let early = look_up(&sandbox, "before");
    sandbox.commit(&[("src/key.txt", SECRET)], "oops");
    let asked = look_up(&sandbox, "after");
    let said = forget_text(&sandbox, SECRET, 1);
    assert_eq!(
        said["dropped"],
        json!([]),
        "history holds it, so nothing would be won"
    );
    sandbox.git(&["reset", "-q", "--hard", "HEAD~1"]);
    sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
    let said = forget_text(&sandbox, SECRET, 0);
    assert_eq!(strings(&said["dropped"]), [asked]);
    assert_gone(&sandbox, &["quokka"]);
    assert_eq!(names(&sandbox), [early]);
}

#[test]
fn what_another_store_lends_is_named() {
    let sandbox = Sandbox::new();
    let id = sandbox.record(SECRET, &["src"]);
    sandbox.git_in(".", &["clone", "-q", "--shared", "r", "borrower"]);
    sandbox.git_in(
        "borrower",
        &["fetch", "-q", "origin", &format!("{RECORDS}:{RECORDS}")],
    );
    let said = sandbox.exits_in("borrower", 1, &["forget", &id]);
    assert!(said.err.contains("alternates"), "{}", said.err);
    sandbox.run(&["forget", &id]);
    assert_gone(&sandbox, &["quokka"]);
}

#[test]
fn copies_of_settings_go_and_links_are_not_followed() {
    let sandbox = Sandbox::new();
    let outside = sandbox.top("outside");
    fs::create_dir(&outside).expect("a folder");
    let copy = "settings.local.json.score-context-backup";
    fs::write(outside.join(copy), SECRET).expect("written");
    sandbox.write(&[
        (".mcp.json.score-context-backup", SECRET),
        (".mcp.json", SECRET),
    ]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, sandbox.path(".claude")).expect("a link");
    let said = forget_text(&sandbox, SECRET, 1);
    assert!(!sandbox.path(".mcp.json.score-context-backup").exists());
    assert!(
        sandbox.path(".mcp.json").exists(),
        "the user's own is named"
    );
    assert!(said["history"].to_string().contains(".mcp.json"), "{said}");
    assert!(outside.join(copy).exists());
}

#[test]
fn a_phrase_is_needed_and_not_too_short() {
    let sandbox = Sandbox::new();
    sandbox.record("something", &[]);
    for phrase in ["", "  \n", "abc", "a b c"] {
        sandbox.feed(phrase.as_bytes(), 2, &["forget", "--text"]);
    }
    sandbox.feed(SECRET.as_bytes(), 2, &["forget", "--text", "abcdef"]);
    sandbox.feed(&vec![b'x'; 200_000], 2, &["forget", "--text"]);
    let said = forget_text(&sandbox, "nothing holds this", 0);
    assert_eq!(said["forgotten"], json!([]));
}

#[test]
fn look_ups_can_be_listed_and_searched() {
    let sandbox = Sandbox::new();
    sandbox.record("keys are rotated", &["src"]);
    let asked = look_up(&sandbox, "is the quokka rotated");
    sandbox.step(60);
    let later = look_up(&sandbox, "another thing");
    let list = |more: &[&str]| -> Vec<String> {
        let lines = sandbox.json_lines(&[&["log", "--type", "attention"], more].concat());
        lines.iter().map(|line| string(&line["id"])).collect()
    };
    assert_eq!(list(&[]), [later.clone(), asked.clone()]);
    assert_eq!(list(&["--grep", "quokka"]), std::slice::from_ref(&asked));
    assert_eq!(list(&["-n", "1"]), [later]);
    assert_eq!(list(&["--node", "src"]).len(), 2);
    assert_eq!(list(&["--node", "docs"]).len(), 0);
    let row = &sandbox.json_lines(&["log", "--type", "attention", "--grep", "quokka"])[0];
    assert_eq!(
        (&row["type"], &row["text"]),
        (&json!("attention"), &json!("is the quokka rotated"))
    );
    let human = sandbox.run(&["log", "--type", "attention", "--grep", "quokka"]);
    assert!(
        human.out.contains(&asked[..12]) && human.out.contains("is the quokka"),
        "{}",
        human.out
    );
    sandbox.exits(2, &["log", "--type", "attention", "--kind", "finding"]);
    // A plain one says where else to look, and only there.
    let plain = sandbox.run(&["log", "--grep", "quokka"]);
    assert!(
        plain.out.is_empty() && plain.err.contains("--type attention"),
        "{}",
        plain.err
    );
    assert_eq!(sandbox.run(&["log", "--grep", "keys"]).err, "");
    assert_eq!(sandbox.run(&["log", "--grep", "nothing has this"]).err, "");
}
