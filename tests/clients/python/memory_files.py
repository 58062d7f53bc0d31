"""Claude's memory tool as the profile `files`: the six commands, over stdio, as Claude sends them.

    memory_files.py PATH_TO_MEMORIST
"""

from session import parameter, run_script, text_of

COMMANDS = ["view", "create", "str_replace", "insert", "delete", "rename"]
DOCUMENTED = {
    "memory": {
        "command": parameter("string", required=True, of=COMMANDS), "path": parameter("string"),
        "view_range": parameter("integer[]"), "file_text": parameter("string"), "old_str": parameter("string"),
        "new_str": parameter("string"), "insert_line": parameter("integer"), "insert_text": parameter("string"),
        "old_path": parameter("string"), "new_path": parameter("string"),
    },
}
LISTED = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n"


async def script(checks, session):
    async def said(command, **arguments):
        result = await session.raw("memory", {"command": command} | arguments)
        checks.equal(f"{command} {arguments}: is text alone", result.structured_content, None)
        return ("error: " if result.is_error else "") + text_of(result)

    checks.equal("an empty folder", await said("view", path="/memories"), LISTED + "0B\t/memories")
    for command, arguments, answer in [
        ("create", {"path": "/memories/team/ana.md", "file_text": "Ana likes tea.\n"},
         "File created successfully at: /memories/team/ana.md"),
        ("create", {"path": "/memories/team/ana.md", "file_text": "x"}, "error: File /memories/team/ana.md already exists"),
        ("view", {"path": "/memories"}, LISTED + "15B\t/memories\n15B\t/memories/team/\n15B\t/memories/team/ana.md\n"
         "(view /memories/search/WORDS to search 1 memory)"),
        ("str_replace", {"path": "/memories/team/ana.md", "old_str": "tea", "new_str": "green tea"},
         "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
         "     1\tAna likes green tea.\n     2\t"),
        ("insert", {"path": "/memories/team/ana.md", "insert_line": "1", "insert_text": "null", "view_range": None},
         "The file /memories/team/ana.md has been edited."),
        ("view", {"path": "/memories/team/ana.md", "view_range": "[2, -1]"},
         "Here's the content of /memories/team/ana.md with line numbers:\n     2\tnull\n     3\t"),
        ("rename", {"old_path": "/memories/team", "new_path": "/memories/people"},
         "Successfully renamed /memories/team to /memories/people"),
        ("delete", {"path": "/memories/team"}, "error: The path /memories/team does not exist"),
        ("delete", {"path": "/memories/people"}, "Successfully deleted /memories/people"),
        ("view", {"path": "/memories/../etc/passwd"},
         "error: Path \"/memories/../etc/passwd\" has a part that no memory file has: \"..\""),
    ]:
        checks.equal(f"{command} {arguments}", await said(command, **arguments), answer)
    for arguments in [{}, {"command": "format"}, {"command": "view"}, {"command": "create", "path": "/memories/a"},
                      {"command": "view", "path": 7}, {"command": "view", "path": "/memories", "file": "x"}]:
        result = await session.raw("memory", arguments)
        checks.that(f"{arguments} is refused", result.is_error, text_of(result))


if __name__ == "__main__":
    run_script("files", DOCUMENTED, script)
