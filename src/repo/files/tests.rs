//! The gateway against links, pipes, folders, other people's files and files that are cut.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::{Access, FileError, Folder, Sort, guard_maps};

const MOST: u64 = 1 << 20;

/// A root with a folder in it, and a place outside with a file that nobody may touch.
fn places() -> (TempDir, Folder) {
    let top = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir_all(top.path().join("root/own")).expect("made");
    fs::create_dir(top.path().join("outside")).expect("made");
    fs::write(top.path().join("outside/file"), "theirs").expect("written");
    let folder = Folder::at(top.path().join("root")).below("own");
    (top, folder)
}

fn untouched(top: &TempDir) {
    let outside = top.path().join("outside");
    let names: Vec<_> = fs::read_dir(&outside).expect("read").flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(
        fs::read_to_string(outside.join("file")).expect("read"),
        "theirs"
    );
}

/// Everything that reads, writes or opens is refused in one sentence with this in it.
fn refused(folder: &Folder, name: &str, why: &str) {
    let all: [(&str, Result<(), FileError>); 7] = [
        ("read", folder.read(name, MOST).map(drop)),
        ("map", folder.map(name).map(drop)),
        (
            "append",
            folder.append(name, b"x", Some(Access::Private)).map(drop),
        ),
        ("append", folder.append(name, b"x", None).map(drop)),
        ("users", folder.replace(name, b"x", Access::Users)),
        ("lock", folder.lock_file(name).map(drop)),
        ("empty", folder.empty(name)),
    ];
    for (what, done) in all {
        let error = done.expect_err(what).to_string();
        assert!(
            error.contains(why) && !error.contains('\n'),
            "{what}: {error}"
        );
    }
}

#[test]
fn what_is_written_is_read() {
    let (top, folder) = places();
    let deep = folder.below("a/b");
    assert!(deep.read("c", MOST).expect("none").is_none());
    assert!(deep.list().expect("none").is_empty());
    deep.replace("c", b"one", Access::Usual).expect("written");
    assert_eq!(
        folder.read("a/b/c", MOST).expect("read"),
        Some(b"one".to_vec())
    );
    assert_eq!(deep.append("c", b"two", None).expect("written"), 6);
    assert_eq!(
        deep.read("c", MOST).expect("read"),
        Some(b"onetwo".to_vec())
    );
    assert!(deep.read("c", 5).expect_err("too long").is_refused());
    assert!(
        deep.append("d", b"", None)
            .expect_err("none")
            .is_not_found()
    );
    assert!(deep.create("d", b"first", Access::Private).expect("made"));
    assert!(!deep.create("d", b"second", Access::Private).expect("there"));
    assert_eq!(deep.read("d", MOST).expect("read"), Some(b"first".to_vec()));
    deep.rename("d", "c").expect("moved");
    let names: Vec<_> = deep.list().expect("read");
    assert_eq!(names.len(), 1, "no draft stays: {names:?}");
    assert!(deep.remove("c").expect("removed"));
    assert!(!deep.remove("c").expect("gone"));
    assert!(deep.remove_empty() && folder.below("a").remove_empty());
    for name in ["", ".", "..", "../x", "a/../../x", "/etc/passwd"] {
        assert!(folder.read(name, MOST).is_err(), "{name}");
        assert!(folder.replace(name, b"x", Access::Usual).is_err(), "{name}");
    }
    untouched(&top);
}

#[test]
fn a_link_is_never_followed() {
    let (top, folder) = places();
    let own = folder.path();
    for (name, target) in [
        ("out", "../../outside/file"),
        ("in", "real"),
        ("dangling", "../../outside/new"),
        ("itself", "itself"),
    ] {
        symlink(target, own.join(name)).expect("made");
    }
    fs::write(own.join("real"), "ours").expect("written");
    for name in ["out", "in", "dangling", "itself"] {
        refused(&folder, name, "is a symbolic link");
    }
    symlink("../../outside", own.join("folder")).expect("made");
    refused(&folder, "folder/file", "is a symbolic link");
    let linked = folder.below("folder");
    assert!(linked.list().expect_err("a link").is_refused());
    assert!(linked.remove("file").expect_err("a link").is_refused());
    assert!(linked.replace("new", b"x", Access::Usual).is_err());
    assert!(linked.below("deeper").make().is_err());
    untouched(&top);
    // A cache of ours takes the place of a link, which leads where it did.
    folder.replace("out", b"cache", Access::Usual).expect("put");
    assert_eq!(
        folder.look("out").expect("seen").expect("there").sort,
        Sort::File
    );
    folder
        .replace("dangling", b"x", Access::Private)
        .expect("put");
    assert!(folder.remove("in").expect("the link goes"));
    assert!(own.join("real").exists());
    assert!(folder.remove("folder").expect("the link goes"));
    untouched(&top);
}

#[test]
fn a_pipe_a_socket_a_device_or_a_folder_is_never_opened() {
    let (top, folder) = places();
    let own = folder.path();
    let made = Command::new("mkfifo").arg(own.join("pipe")).status();
    assert!(made.expect("it runs").success());
    let _socket = std::os::unix::net::UnixListener::bind(own.join("socket")).expect("made");
    fs::create_dir(own.join("folder")).expect("made");
    refused(&folder, "pipe", "is a pipe");
    refused(&folder, "socket", "is a socket");
    refused(&folder, "folder", "is a folder");
    let dev = Folder::at("/dev");
    assert!(
        dev.read("null", MOST)
            .expect_err("a device")
            .to_string()
            .contains("is a device")
    );
    assert!(
        folder
            .read("pipe/x", MOST)
            .expect_err("no folder")
            .is_refused()
    );
    assert!(folder.remove("folder").is_err());
    assert!(folder.replace("folder", b"x", Access::Usual).is_err());
    folder.replace("pipe", b"x", Access::Usual).expect("put");
    assert!(folder.remove("socket").expect("removed"));
    untouched(&top);
}

#[test]
fn modes_stay_and_private_is_private() {
    let (_top, folder) = places();
    let file = folder.path().join("file");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o7777;
    for wanted in [0o600, 0o640, 0o755] {
        fs::write(&file, "before").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(wanted)).expect("set");
        folder
            .replace("file", b"after", Access::Users)
            .expect("put");
        assert_eq!(mode(&file), wanted);
    }
    folder
        .append("own", b"x", Some(Access::Private))
        .expect("made");
    assert_eq!(mode(&folder.path().join("own")), 0o600);
    folder.replace("own", b"x", Access::Program).expect("put");
    assert_eq!(mode(&folder.path().join("own")), 0o755);
}

#[test]
fn another_name_of_a_file_keeps_its_bytes() {
    let (top, folder) = places();
    let own = folder.path().join("own");
    fs::hard_link(top.path().join("outside/file"), own).expect("linked");
    assert_eq!(
        folder.append("own", b" and ours", None).expect("written"),
        15
    );
    assert_eq!(
        folder.read("own", MOST).expect("read"),
        Some(b"theirs and ours".to_vec())
    );
    untouched(&top);
}

#[test]
fn a_file_of_somebody_else_is_not_believed() {
    let (top, folder) = places();
    let file = folder.path().join("file");
    fs::write(&file, "planted").expect("written");
    if std::os::unix::fs::chown(&file, Some(12_345), None).is_err() {
        // Only the superuser can give a file away.
        return;
    }
    let error = folder.read("file", MOST).expect_err("not ours").to_string();
    assert!(error.contains("belongs to another user"), "{error}");
    assert!(folder.map("file").is_err());
    assert!(folder.append("file", b"x", None).is_err());
    assert!(folder.replace("file", b"x", Access::Users).is_err());
    // Whom Git was told to trust with the whole repository is trusted here, and keeps the file.
    std::os::unix::fs::chown(top.path().join("root"), Some(12_345), None).expect("given");
    assert!(folder.read("file", MOST).expect("read").is_some());
    folder.replace("file", b"x", Access::Users).expect("put");
    assert_eq!(fs::metadata(&file).expect("there").uid(), 12_345);
}

#[test]
fn a_file_that_is_cut_is_zeros_and_told() {
    let (_top, folder) = places();
    let bytes = vec![7u8; 3 << 20];
    let path = folder.path().join("large");
    fs::write(&path, &bytes).expect("written");
    fs::write(folder.path().join("small"), &bytes[..1000]).expect("written");
    guard_maps();
    let cut = |len| {
        fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_len(len))
    };
    let large = folder.map("large").expect("read").expect("there");
    let small = folder.map("small").expect("read").expect("there");
    assert!(large.is_whole() && small.is_whole());
    cut(1 << 20).expect("cut");
    assert_eq!(large.len(), 3 << 20);
    let ends: Vec<u8> = std::thread::scope(|scope| {
        let look = |at: usize| {
            scope.spawn({
                let large = &large;
                move || large[at]
            })
        };
        [0, (2 << 20) + 5, (3 << 20) - 1]
            .map(look)
            .map(|seen| seen.join().expect("no panic"))
            .to_vec()
    });
    assert_eq!(ends, [7, 0, 0]);
    assert!(!large.is_whole());
    assert!(small.is_whole());
    // Who cuts one may cut the next, so from now on files are read.
    let again = folder.map("large").expect("read").expect("there");
    cut(0).expect("cut");
    assert_eq!((again.len(), again[again.len() - 1]), (1 << 20, 7));
    drop(large);
}
