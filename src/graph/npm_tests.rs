//! What specifiers of JavaScript and TypeScript mean, on paths and manifests written here.

use crate::graph::npm::{Asked, Npm};
use crate::graph::places::{Place, Places};

fn resolve(
    paths: &'static [&'static str],
    projects: &[(&str, &str)],
    from: &str,
    specifier: &str,
) -> Option<&'static str> {
    let sources: Vec<_> = paths
        .iter()
        .enumerate()
        .map(|(at, path)| (*path, at as u32))
        .collect();
    let places = Places::new(&sources, paths.iter().copied());
    let is_require = false;
    let asked = Asked {
        from,
        specifier,
        is_require,
    };
    match Npm::new(projects.iter().copied()).resolve(&places, asked) {
        Place::File(at) => Some(paths[at as usize]),
        _ => None,
    }
}

#[test]
fn relative_specifiers() {
    let paths = &[
        "a/math.ts",
        "a/fmt.mts",
        "a/lib/index.tsx",
        "a/old.js",
        "index.ts",
        "a/old.d.ts",
    ];
    for (specifier, expected) in [
        ("./math", Some("a/math.ts")),
        ("./math.js", Some("a/math.ts")),
        ("./fmt.mjs", Some("a/fmt.mts")),
        ("./lib", Some("a/lib/index.tsx")),
        ("./lib/", Some("a/lib/index.tsx")),
        ("..", Some("index.ts")),
        ("../../x", None),
        ("./gone", None),
        ("math", None),
    ] {
        assert_eq!(
            resolve(paths, &[], "a/main.ts", specifier),
            expected,
            "{specifier}"
        );
    }
}

#[test]
fn packages_and_mappings() {
    let paths = &[
        "packages/a/src/index.ts",
        "packages/a/src/deep/x.ts",
        "packages/b/lib/main.js",
        "app/src/util.ts",
    ];
    let projects = [
        (
            "packages/a/package.json",
            r#"{"name":"@s/a","exports":{".":{"import":"./dist/index.js"},"./*":"./src/deep/*.ts"}}"#,
        ),
        (
            "packages/b/package.json",
            r#"{"name":"b","main":"lib/main.js"}"#,
        ),
        (
            "app/tsconfig.json",
            "{ // a comment\n \"extends\": \"../tsconfig.base.json\", }",
        ),
        (
            "tsconfig.base.json",
            r#"{"compilerOptions":{"paths":{"~/*":["./app/src/*"]}}}"#,
        ),
    ];
    for (specifier, expected) in [
        ("@s/a", Some("packages/a/src/index.ts")),
        ("@s/a/x", Some("packages/a/src/deep/x.ts")),
        ("b", Some("packages/b/lib/main.js")),
        ("~/util", Some("app/src/util.ts")),
        ("react", None),
    ] {
        assert_eq!(
            resolve(paths, &projects, "app/main.ts", specifier),
            expected,
            "{specifier}"
        );
    }
}

#[test]
fn conditions_hold_in_the_order_they_are_written() {
    let paths = &[
        "p/a.cjs",
        "p/b.mjs",
        "p/c.d.ts",
        "p/d.js",
        "p/hidden.js",
        "p/x/y.js",
        "q/main.js",
    ];
    let exports = r##"{"name":"p","exports":{
        ".":{"types":"./c.d.ts","browser":"./d.js","require":"./a.cjs","import":"./b.mjs"},
        "./d":["./gone.js","./d.js"], "./hidden":null, "./x/*":"./x/*.js", "./other":{"deno":"./d.js"}},
        "imports":{"#q":{"browser":"./d.js","default":"q"}}}"##;
    let projects = [
        ("package.json", r#"{"workspaces":["p","q"]}"#),
        ("p/package.json", exports),
        ("q/package.json", r#"{"name":"q","main":"main"}"#),
    ];
    let sources: Vec<_> = paths
        .iter()
        .enumerate()
        .map(|(at, path)| (*path, at as u32))
        .collect();
    let places = Places::new(&sources, paths.iter().copied());
    let npm = Npm::new(projects.iter().copied());
    let of = |from, specifier, is_require| match npm.resolve(
        &places,
        Asked {
            from,
            specifier,
            is_require,
        },
    ) {
        Place::File(at) => Some(paths[at as usize]),
        _ => None,
    };
    for (from, specifier, is_require, right) in [
        ("m.js", "p", false, Some("p/b.mjs")),
        ("m.js", "p", true, Some("p/a.cjs")),
        ("m.ts", "p", false, Some("p/c.d.ts")),
        ("m.js", "p/d", false, Some("p/d.js")),
        ("m.js", "p/hidden", false, None),
        ("m.js", "p/hidden.js", false, None),
        ("m.js", "p/x/y", false, Some("p/x/y.js")),
        ("m.js", "p/other", false, Some("p/d.js")),
        ("p/a.cjs", "#q", true, Some("q/main.js")),
        ("p/a.cjs", "p/d", true, Some("p/d.js")),
    ] {
        assert_eq!(
            of(from, specifier, is_require),
            right,
            "{from} {specifier} {is_require}"
        );
    }
}

#[test]
fn only_what_a_workspace_links_is_a_package_of_the_tree() {
    let paths = &[
        "packages/a/index.js",
        "fixtures/react/index.js",
        "tools/t/index.js",
    ];
    let packages = [
        ("fixtures/react/package.json", r#"{"name":"react"}"#),
        ("packages/a/package.json", r#"{"name":"a"}"#),
        ("tools/t/package.json", r#"{"name":"t"}"#),
    ];
    let with = |more: &[(&'static str, &'static str)], from: &str, specifier: &str| {
        let projects: Vec<_> = packages.iter().chain(more).copied().collect();
        resolve(paths, &projects, from, specifier)
    };
    let pnpm = [("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n")];
    let npm = [(
        "package.json",
        r#"{"workspaces":{"packages":["packages/*"]}}"#,
    )];
    let lerna = [("lerna.json", r#"{"packages":["packages/*"]}"#)];
    for declared in [&pnpm, &npm, &lerna] {
        assert_eq!(with(declared, "app/x.js", "a"), Some(paths[0]));
        assert_eq!(with(declared, "app/x.js", "react"), None);
        assert_eq!(
            with(declared, "fixtures/react/x.js", "react"),
            Some(paths[1])
        );
    }
    // Nobody declares a workspace.
    assert_eq!(with(&[], "app/x.js", "t"), Some(paths[2]));
    let bought = [(
        "package.json",
        r#"{"dependencies":{"react":"^18.0.0","t":"file:./tools/t"}}"#,
    )];
    assert_eq!(with(&bought, "app/x.js", "react"), None);
    assert_eq!(with(&bought, "app/x.js", "t"), Some(paths[2]));
    let both = [pnpm[0], bought[0]];
    assert_eq!(with(&both, "app/x.js", "t"), Some(paths[2]));
}

#[test]
fn configs_that_extend_one_another_end() {
    let around = "{\"extends\":[\"./tsconfig.a.json\",\"./tsconfig.b.json\"]}";
    let projects = [
        ("tsconfig.a.json", around),
        ("tsconfig.b.json", around),
        (
            "tsconfig.json",
            "{\"extends\":[\"./tsconfig.a\",\"./tsconfig.b.json\",\"./tsconfig.c.json\"]}",
        ),
        (
            "tsconfig.c.json",
            "{\"extends\":\"./tsconfig.json\",\"compilerOptions\":{\"baseUrl\":\"src\"}}",
        ),
    ];
    assert_eq!(
        resolve(&["src/x.ts", "m.ts"], &projects, "m.ts", "x"),
        Some("src/x.ts")
    );
    assert_eq!(
        resolve(&["src/x.ts", "m.ts"], &projects[..3], "m.ts", "x"),
        None
    );
}
