//! The handed cases: situations that Git users get into, each a script in `fixtures/git/cases` that makes the situation with the real
//! git and says what must hold. A script exits with 0 when it holds.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn situations_that_git_users_get_into() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/git/cases");
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(cases)
        .expect("the cases lie in fixtures")
        .map(|entry| entry.expect("a folder can be listed").path())
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 29, "{} scripts", scripts.len());
    let failures: Vec<String> = scripts
        .iter()
        .filter_map(|script| run(script).err())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn run(case: &Path) -> Result<(), String> {
    let tool = PathBuf::from(env!("CARGO_BIN_EXE_git-score-context"));
    let folder = tool.parent().expect("the binary lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .arg(case)
        .env("PATH", format!("{}:{path}", folder.display()))
        .env_remove("SETUP_ONLY")
        .env_remove("ADAPTER")
        .output()
        .map_err(|error| format!("{}: {error}", case.display()))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => Ok(()),
        // A git without reftable cannot make that situation. Any other skip would be a test that cannot fail.
        Some(77) if said.contains("no reftable in this git") => Ok(()),
        code => {
            let name = case.file_stem().unwrap_or_default().to_string_lossy();
            Err(format!("{name} ({code:?}): {said}"))
        }
    }
}
