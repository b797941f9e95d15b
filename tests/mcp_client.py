"""The MCP server as the official Python SDK sees it: `python tests/mcp_client.py PROGRAM`.

In each mode of the client (the handshake, the newest one that both speak, 2026-07-28 without any word before) it lists the tools, records,
looks up, replays, reads a resource and a prompt. The SDK checks every answer against the schemas that the server told it. Needs a
Python from 3.10 and what tests/mcp_client.txt names; `.ci/mcp-client` brings both. Prints a line for each mode, and ends with 1 at the
first thing that is not as it has to be.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile

from mcp import Client, StdioServerParameters

TOOLS = [
    "get_prior_context", "initialize_session", "record_decision", "record_outcome", "get_working_memory",
    "get_unverified_assumptions", "explain_lookup", "replay_lookup", "query_graph", "impact", "structural_context",
]
SAID = "sessions live in signed cookies, since redis was the only stateful part"
ASKED = {"task_text": "shrink the session cookies", "current_nodes": ["src"]}


def repository(top: str, environment: dict[str, str]) -> str:
    """A repository with one commit."""
    os.makedirs(os.path.join(top, "src"))
    with open(os.path.join(top, "src", "session.py"), "w", encoding="utf-8") as file:
        file.write("class Session:\n    def load(self):\n        return None\n")
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
    for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "start"]):
        subprocess.run(["git", *arguments], cwd=top, env=environment, check=True)
    return top


async def data(client: Client, name: str, arguments: dict) -> dict:
    """What a tool answers, which must be no error."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, (name, result.content)
    assert isinstance(result.structured_content, dict), name
    return result.structured_content


async def converse(program: str, mode: str, version: str, environment: dict[str, str]) -> None:
    """Everything, in one mode of the client."""
    with tempfile.TemporaryDirectory() as top:
        place = repository(top, environment)
        server = StdioServerParameters(command=program, args=["mcp"], cwd=place, env=environment)
        async with Client(server, mode=mode, read_timeout_seconds=30) as client:
            assert client.protocol_version == version, client.protocol_version
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == TOOLS
            assert all(tool.output_schema and tool.annotations for tool in tools)

            begun = await data(client, "initialize_session", {"goal": "smaller cookies", "agent": "test"})
            told = await data(client, "record_decision", {"text": SAID, "nodes": ["src/session.py"]})
            again = await data(client, "record_decision", {"text": SAID, "nodes": ["src/session.py"]})
            assert not told["known"] and again["known"] and told["id"] == again["id"]

            result = await client.call_tool("get_prior_context", ASKED)
            found = result.structured_content
            assert [one["id"] for one in found["selected"]] == [told["id"]] and found["focus_size"] > 0
            assert result.content[0].text == found["rendered"]
            command = [program, "query", ASKED["task_text"], "--node", "src", "--json", "--no-record"]
            shown = subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True, text=True)
            assert json.loads(shown.stdout)["rendered"] == found["rendered"], "the bytes of the command"

            replayed = await data(client, "replay_lookup", {"id": found["attention_id"]})
            assert replayed["result"] == "identical", replayed
            explained = await data(client, "explain_lookup", {"id": found["attention_id"]})
            assert explained["candidates"][0]["fate"] == "selected"

            task = begun["tasks"][0]
            await data(client, "record_outcome", {"task": task, "verdict": "pass", "rationale": "2 KB"})
            memory = await data(client, "get_working_memory", {})
            assert memory["goal"] == {"id": task, "verdict": "pass"}
            await data(client, "get_unverified_assumptions", {})
            graph = await data(client, "query_graph", {"node": "src/session.py::Session.load"})
            assert graph["kind"] == "method", graph
            await data(client, "structural_context", ASKED)
            await data(client, "impact", {})

            wrong = await client.call_tool("record_outcome", {"task": task, "verdict": "almost"})
            assert wrong.is_error and "exactly 'pass' or 'fail'" in wrong.content[0].text

            record = await client.read_resource("score-context://record/" + told["id"])
            assert SAID in record.contents[0].text
            prompts = (await client.list_prompts()).prompts
            assert [prompt.name for prompt in prompts] == ["prior-context"]
            prompt = await client.get_prompt("prior-context", {"task": ASKED["task_text"], "nodes": "src"})
            assert prompt.messages[0].content.text == found["rendered"]
    print(f"{mode}: {version}, {len(TOOLS)} tools")


async def main() -> None:
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        for mode, version in (("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")):
            await converse(program, mode, version, environment)


asyncio.run(main())
