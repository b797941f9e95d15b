#!/usr/bin/env python3
"""Rejected ideas of Python's enhancement proposals, as records and as questions with known answers.

In: a clone of https://github.com/python/peps, read at COMMIT whatever is checked out, and a directory to write into. Out, there:

    rejected.jsonl     a record of kind `rejected` for each heading under a section "Rejected ideas" (or alternatives, proposals, ...):
                       the text below that heading, without the heading
    brief.jsonl        the same records, of each only the first paragraph
    reasoned.jsonl     the same, the first paragraph as the text and every further one as a reason
    cases.jsonl        for each of those headings a question: it should find its own text
    decisions.jsonl    a record of kind `decision` for each proposal with such a section: title and abstract
    motivated.jsonl    the same, with the paragraphs of motivation and rationale as reasons
    with-rejected.jsonl  the lines of decisions.jsonl and of rejected.jsonl
    proposals.jsonl    the same questions; any record of the right proposal is an answer

Records are lines for `git score-context record --stdin`, questions for `git score-context eval FILE --all-records`. A third argument is a
clone of pallets/flask: the subjects of its 300 newest commits that are no merge are asked too, and should find nothing.

The same commits give the same bytes. Only the standard library is needed. No text of the proposals is in this file, and none is to be
committed: what it writes belongs to its authors.
"""

import io
import json
import pathlib
import re
import subprocess
import sys
import tarfile

COMMIT = "ba4deeb7969588d937da609008d05bb83a47b1ab"
CONTROLS = "2ac89889f4cc330eabd50f295dcef02828522c69"
HOW_MANY_CONTROLS = 300
# What a record takes is 16 KiB of text and 100 reasons; a longer text ends with the paragraph before.
MOST_BYTES = 16 * 1024
MOST_REASONS = 100

REJECTED = re.compile(
    r"\b(rejected|discarded)\b.*\b(ideas?|alternatives?|proposals?|options?|suggestions?|approach(es)?|variants?|variations?|designs?|features?|syntax(es)?)\b"
    r"|\b(ideas|alternatives|proposals|options|suggestions|approaches)\b.*\brejected\b",
    re.IGNORECASE,
)
WHY = re.compile(r"(motivation|rationale)( and .*)?", re.IGNORECASE)
ADORNMENT = re.compile(r"([!-/:-@[-`{-~])\1{2,}\s*")


def git(clone, *arguments):
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout


def proposals(clone):
    """Number and text of every proposal at COMMIT, by number."""
    archive = tarfile.open(fileobj=io.BytesIO(git(clone, "archive", COMMIT, "peps")))
    for member in sorted(archive.getmembers(), key=lambda member: member.name):
        name = re.fullmatch(r"peps/pep-(\d{4})\.rst", member.name)
        if name:
            yield name[1], archive.extractfile(member).read().decode("utf-8")


def sections(text):
    """Level, heading and own lines of each section of a reStructuredText document, in order."""
    lines = text.splitlines()
    found, styles = [], []
    at = 0
    while at < len(lines):
        line = lines[at]
        below = lines[at + 1] if at + 1 < len(lines) else ""
        is_heading = (
            line[:1].strip()
            and not ADORNMENT.fullmatch(line)
            and ADORNMENT.fullmatch(below)
            and len(below.rstrip()) >= min(len(line.rstrip()), 4)
        )
        if not is_heading:
            if found:
                found[-1][2].append(line)
            at += 1
            continue
        above = lines[at - 1] if at else ""
        is_framed = above.rstrip() == below.rstrip()
        if is_framed and found:
            found[-1][2].pop()
        style = (below[0], is_framed)
        if style not in styles:
            styles.append(style)
        found.append((styles.index(style), line.strip(), []))
        at += 2
    return found


def paragraphs(lines):
    """The text of some lines, paragraph by paragraph, as it is written; without targets of links, which repeat the next heading."""
    kept = [line.rstrip() for line in lines if not re.match(r"\.\. _[^:]+:\s*$", line)]
    blocks = "\n".join(kept).strip("\n").split("\n\n")
    return [block for block in (block.strip("\n") for block in blocks) if block.strip()]


def whole(blocks):
    text = ""
    for block in blocks:
        longer = (text + "\n\n" + block).lstrip("\n")
        if len(longer.encode()) > MOST_BYTES:
            break
        text = longer
    return text


def read(number, text):
    """Of one proposal the decision, its reasons, and each rejected idea: heading and paragraphs."""
    title = re.search(r"^Title:\s*(.*(?:\n[ \t]+.*)*)", text, re.MULTILINE)
    abstract, reasons, ideas = [], [], []
    inside, why = None, None
    for level, heading, lines in sections(text):
        if inside is not None and level <= inside:
            inside = None
        if why is not None and level <= why:
            why = None
        blocks = paragraphs(lines)
        if inside is not None:
            if blocks:
                ideas.append((heading, blocks))
        elif REJECTED.search(heading):
            inside = level
        elif heading.lower() == "abstract":
            abstract += blocks
        elif WHY.fullmatch(heading) or why is not None:
            why = level if why is None else why
            reasons += blocks
    decision = [" ".join(title[1].split())] + abstract
    return decision, reasons[:MOST_REASONS], ideas


def main(clone, out, controls=None):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    files = {}

    def add(name, **line):
        files.setdefault(name, []).append(json.dumps(line, ensure_ascii=False))

    keys_of = {}
    for number, text in proposals(clone):
        decision, reasons, ideas = read(number, text)
        if not ideas:
            continue
        own = "pep-" + number
        line = {"key": own, "kind": "decision", "text": whole(decision)}
        add("decisions", **line)
        add("motivated", **line, reasons=reasons)
        add("with-rejected", **line)
        keys = [f"{own}/{at + 1}" for at in range(len(ideas))]
        for key, (heading, blocks) in zip(keys, ideas):
            line = {"key": key, "kind": "rejected"}
            add("rejected", **line, text=whole(blocks))
            add("with-rejected", **line, text=whole(blocks))
            add("brief", **line, text=blocks[0])
            add("reasoned", **line, text=blocks[0], reasons=blocks[1 : MOST_REASONS + 1])
            # A heading that several proposals use is one question with several answers.
            same = keys_of.setdefault(" ".join(heading.split()), ([], []))
            same[0].append(key)
            same[1].extend(one for one in [own, *keys] if one not in same[1])
    for heading, (ideas, all_of_them) in keys_of.items():
        add("cases", id=ideas[0], kind="strong", task=heading, nodes=[], relevant=ideas)
        add("proposals", id=ideas[0], kind="strong", task=heading, nodes=[], relevant=all_of_them)
    if controls:
        log = git(controls, "log", "--no-merges", f"-{HOW_MANY_CONTROLS}", "--format=%s", CONTROLS)
        for at, subject in enumerate(log.decode("utf-8", "replace").splitlines()):
            for name in "cases", "proposals":
                add(name, id=f"control-{at + 1}", kind="control", task=subject, nodes=[], relevant=[])
    for name, lines in files.items():
        (out / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        print(f"{len(lines):6} {name}.jsonl")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: rejected_ideas.py PEPS OUT [FLASK]")
    main(*sys.argv[1:])
