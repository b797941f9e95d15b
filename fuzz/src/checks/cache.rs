//! The derived files in the common dir, each by itself and all of them under a real look-up.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use git_score_context::id::{CommitId, ObjectId};
use git_score_context::policy::{Policy, Rule};
use git_score_context::record::{Anchor, Kind, Reasoning, Record, Source, Time};
use git_score_context::repo::probe::{touched, touched_with};
use git_score_context::store::probe::{facts, ids, journal, section_of};
use git_score_context::{Put, Query, Repo, Store, ask};

use super::forged::{Sort, forge, sort_of};
use super::support::{check_growth, copies};

/// The first byte says what the rest is.
pub fn check(bytes: &[u8]) {
    let Some((what, rest)) = bytes.split_first() else {
        return;
    };
    match what % 8 {
        0 => check_facts(rest),
        1 => check_lines(rest),
        2 => check_touched(rest),
        3 => check_journal(rest),
        _ => PLACE.with(|place| place.get_or_init(Place::new).check(rest)),
    }
}

/// Bytes of the index are records or nothing; records come back.
fn check_facts(bytes: &[u8]) {
    if let Some(records) = facts(bytes) {
        let records: Vec<Record> = records.into_iter().map(|(_, record)| record).collect();
        check_section(&records);
    }
    if let Some((anchors, stones)) = ids(bytes) {
        assert!(anchors.len() * 65 + stones.len() <= bytes.len());
    }
}

/// Lines of records come back from the index as they are.
fn check_lines(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n');
    let records: Vec<Record> = lines.filter_map(|line| Record::decode(line).ok()).collect();
    check_section(&records);
}

fn check_section(records: &[Record]) {
    let by_id: BTreeMap<_, _> = records
        .iter()
        .map(|record| (record.encode().id, record.clone()))
        .collect();
    if by_id.is_empty() {
        return;
    }
    let (known, told) = section_of(records);
    let back = facts(&told).expect("what was written can be read");
    assert_eq!(back, by_id.into_iter().collect::<Vec<_>>());
    let (anchors, stones) = ids(&known).expect("what was written can be read");
    let is_anchor = |record: &&Record| matches!(record, Record::Anchor(_));
    let most = records.iter().filter(is_anchor).count();
    assert!(anchors.len() <= most);
    assert_eq!(
        stones.is_empty(),
        !records
            .iter()
            .any(|record| matches!(record, Record::Tombstone(_)))
    );
}

/// What was put in is found; bytes of any other kind are refused or say nothing wrong of it.
fn check_touched(bytes: &[u8]) {
    let id = |byte: u8| CommitId(ObjectId::from_bytes(&[byte; 20]).expect("20 bytes are a name"));
    let wanted = [id(0), id(1), id(2), id(255)];
    drop(touched(bytes, &wanted));
    let mut forged = bytes.to_vec();
    forge(Sort::Touched, &mut forged);
    drop(touched(&forged, &wanted));
    let path = String::from_utf8_lossy(bytes).replace('\0', "0");
    let paths = if path.is_empty() {
        Vec::new()
    } else {
        vec![path]
    };
    let commits = BTreeMap::from([
        (id(1), (-5, vec![id(0)], paths)),
        (id(2), (7, Vec::new(), Vec::new())),
    ]);
    let told = touched(&touched_with(&forged, &commits), &wanted[..3])
        .expect("what was written can be read");
    assert_eq!(told[1].as_ref(), commits.get(&id(1)));
    assert_eq!(told[2].as_ref(), commits.get(&id(2)));
}

/// A journal gives no more than it holds, and what is appended to it hides nothing.
fn check_journal(bytes: &[u8]) {
    let objects = journal(bytes);
    assert!(
        objects
            .iter()
            .map(|object| object.bytes.len() + 26)
            .sum::<usize>()
            <= bytes.len()
    );
    let mut entry = vec![b'b', 20];
    entry.extend([7; 20]);
    entry.extend(3u32.to_le_bytes());
    entry.extend(b"abc");
    let before = journal(&[&entry[..], bytes].concat());
    assert!(before.iter().any(|object| object.id.as_bytes() == [7; 20]));
}

thread_local! {
    static PLACE: OnceCell<Place> = const { OnceCell::new() };
}

/// A repository with a memory, its sound cache files, and what a look-up answers there.
struct Place {
    _top: tempfile::TempDir,
    repo: Repo,
    cache: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
    answer: String,
}

/// 2026-11-30T12:00:00Z.
const NOW: Time = Time(1_796_040_000);

impl Place {
    fn new() -> Self {
        let top = tempfile::tempdir().expect("a temporary directory");
        let dir = top.path();
        git(dir, &["init", "-q", "."]);
        for version in 0..3 {
            fs::create_dir_all(dir.join("src")).expect("a folder");
            for name in ["a", "b", "c"] {
                let text =
                    format!("import src.a\n\ndef {name}(x):\n    return src.a.a(x) + {version}\n");
                fs::write(dir.join(format!("src/{name}.py")), text).expect("written");
            }
            git(dir, &["add", "."]);
            git(dir, &["commit", "-q", "-m", "a change"]);
        }
        let repo = Repo::open(dir, None).expect("a repository");
        let head = repo.head().expect("a head").commit;
        let store = Store::new(&repo);
        for number in 0..20 {
            let record = Record::Reasoning(Reasoning {
                text: format!("the cache number {number} is a folder of files"),
                nodes: vec![format!("src/{}.py", ["a", "b", "c"][number % 3])],
                ..Reasoning::new(Source::Session, Kind::Decision)
            });
            store
                .put(
                    &[Put::new(&record, Some(Anchor::at(head, NOW)), false)],
                    NOW,
                )
                .expect("a store");
        }
        let cache = repo.common_dir().join("score-context");
        let answer = asked(&repo);
        let mut files = Vec::new();
        collect(&cache, &mut files);
        let sorts = files.iter().map(|(path, _)| sort_of(&name(path)));
        assert_eq!(
            sorts.filter(|sort| *sort != Sort::Other).count(),
            4,
            "index, graph, facts, touched: {:?}",
            files.iter().map(|(path, _)| path).collect::<Vec<_>>()
        );
        for (path, bytes) in &files {
            let mut forged = bytes.clone();
            forge(sort_of(&name(path)), &mut forged);
            assert!(
                forged == *bytes,
                "{} is not forged as it is written",
                path.display()
            );
        }
        let place = Self {
            _top: top,
            repo,
            cache,
            files,
            answer,
        };
        place.lay(usize::MAX, &[]);
        assert_eq!(
            asked(&place.repo),
            place.answer,
            "with and without the files"
        );
        place.check_that_files_are_read();
        place
    }

    /// A forged file gives another answer, so a damaged one that was believed would be seen.
    fn check_that_files_are_read(&self) {
        let is_index = |(path, _): &(PathBuf, Vec<u8>)| sort_of(&name(path)) == Sort::Index;
        let which = self.files.iter().position(is_index).expect("an index");
        let mut file = self.files[which].1.clone();
        for at in 0..file.len() {
            if file[at..].starts_with(b"folder") {
                file[at..at + 6].copy_from_slice(b"FOLDER");
            }
        }
        forge(Sort::Index, &mut file);
        self.lay(which, &file);
        assert_ne!(asked(&self.repo), self.answer, "the index is read");
    }

    /// The sound files, one of them with other bytes.
    fn lay(&self, which: usize, other: &[u8]) {
        for (at, (path, sound)) in self.files.iter().enumerate() {
            let bytes = if at == which { other } else { sound };
            // A reader may have it mapped: what is renamed over is still there for him.
            let temporary = path.with_extension("new");
            fs::create_dir_all(path.parent().unwrap_or(&self.cache)).expect("a folder");
            fs::write(&temporary, bytes)
                .and_then(|()| fs::rename(&temporary, path))
                .expect("written");
        }
        // Facts are read only where the graph is not there.
        let is_facts = self
            .files
            .get(which)
            .is_some_and(|(path, _)| name(path).starts_with("facts-"));
        let graph = self
            .files
            .iter()
            .find(|(path, _)| is_facts && name(path).starts_with("graph-"));
        graph
            .iter()
            .for_each(|(path, _)| fs::remove_file(path).expect("removed"));
    }

    /// With one of the files damaged the answer is the same; with one of them forged there is one.
    fn check(&self, bytes: &[u8]) {
        let [which, how, low, high, new @ ..] = bytes else {
            return;
        };
        let which = usize::from(*which) % self.files.len();
        let (path, sound) = &self.files[which];
        let at = (usize::from(*low) | usize::from(*high) << 8) % (sound.len() + 1);
        let mut file = sound.clone();
        match how % 4 {
            0 => file
                .iter_mut()
                .skip(at)
                .zip(new)
                .for_each(|(byte, new)| *byte = *new),
            1 => file.truncate(at),
            2 => drop(file.splice(at..at, new.iter().copied())),
            _ => file = new.to_vec(),
        }
        let is_forged = how & 4 != 0;
        if is_forged {
            forge(sort_of(&name(path)), &mut file);
        }
        self.lay(which, &file);
        let answer = asked(&self.repo);
        assert!(
            is_forged || answer == self.answer,
            "{} was believed, though it is damaged",
            path.display()
        );
    }
}

fn asked(repo: &Repo) -> String {
    let mut query = Query::new(
        "make the cache of a folder one file",
        vec!["src/a.py".to_owned()],
    );
    query.record = false;
    query.policy = Some(Policy::of(Rule::Measured1));
    match ask(repo, &query, NOW, &|_, _| {}) {
        Ok(answer) => format!(
            "{}\n{}",
            String::from_utf8_lossy(&answer.attention.encode()),
            answer.block()
        ),
        Err(error) => format!("no answer: {error}"),
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn collect(dir: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    let mut paths: Vec<_> = fs::read_dir(dir)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push((path.clone(), fs::read(&path).expect("a file"))),
        }
    }
}

fn git(dir: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .env_remove("GIT_DIR")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "A U Thor");
        command.env(format!("GIT_{role}_EMAIL"), "author@example.invalid");
        command.env(format!("GIT_{role}_DATE"), "@1790000000 +0000");
    }
    let done = command.args(arguments).status().expect("git is there");
    assert!(done.success(), "git {arguments:?}");
}

/// A file of many of these.
pub fn slow(bytes: &[u8]) {
    let bytes = bytes.get(1..).unwrap_or_default();
    let make = |size| copies(bytes, b"", size);
    check_growth(make, |bytes| drop(facts(bytes)));
    check_growth(make, |bytes| drop(ids(bytes)));
    check_growth(make, |bytes| drop(journal(bytes)));
    check_growth(make, |bytes| drop(touched(bytes, &[])));
}
