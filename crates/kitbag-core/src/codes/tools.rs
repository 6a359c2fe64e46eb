//! Codes of what is wrong with tool lists, tools and rules.

use super::{CodePage, page};

pub(super) const PAGES: &[CodePage] = &[
    page(
        "bad_tool",
        "The definition of a tool breaks the protocol, or is one that a provider does not take.",
        "Report it to the author of the server. The other tools work; `kitbag why <server>/<tool>` says what is wrong.",
        "warning[bad_tool]: x: the tool \"say\" is left out: its input schema is not an object",
    ),
    page(
        "list_cut",
        "The list of tools has more pages, bytes or tools than the limits allow, or its pages repeat.",
        "Raise pages, list or tools under [limits] in kitbag.toml, or leave tools out with \"include\".",
        "warning[list_cut]: x: the list was not read to its end: more than 100 pages",
    ),
    page(
        "list_stale",
        "The server could not list its tools again, so those of the last good list are shown.",
        "Look into `kitbag logs <server>`. The tools can be called if the server still has them.",
        "warning[list_stale]: x: these tools are from the last good list of 2026-01-01: the list is broken",
    ),
    page(
        "list_failed",
        "The server is connected and answers the question for its tools with an error.",
        "Look into `kitbag logs <server>`, and install another version of the server.",
        "error[list_failed]: x: tools cannot be listed: the list is broken",
    ),
    page(
        "list_empty",
        "The server has no tools, or shows them only after it got an argument, a variable or a token.",
        "Read the server's documentation for what it wants before it shows its tools.",
        "warning[list_empty]: x: the server lists no tools",
    ),
    page(
        "hidden_characters",
        "A name or a description holds characters that nobody sees, by which instructions can be hidden from people.",
        "Look at the definition with `kitbag show <tool> --json`, and do not use a server you do not trust.",
        "warning[hidden_characters]: x: the tool \"say\" has hidden characters (U+200B) in its description",
    ),
    page(
        "instructs_model",
        "A text of the definition speaks to the model: it tells it what to do, to ignore or to keep from the user. Found \
         by fixed words, so it may be harmless, and its absence means nothing.",
        "Read the definition with `kitbag show <tool>`. Write your own description under [servers.<name>.tools.<tool>] in \
         kitbag.toml, leave the tool out with \"exclude\", or do not use the server.",
        "warning[instructs_model]: x: the tool \"add\" gives the model orders in its description: \"<IMPORTANT>\"",
    ),
    page(
        "asks_for_secrets",
        "A text of the definition names keys, passwords or private files that somebody is to read or hand over. Found by \
         fixed words, so it may be harmless, and its absence means nothing.",
        "Read the definition with `kitbag show <tool>`, and do not use a server you do not trust.",
        "warning[asks_for_secrets]: x: the tool \"add\" speaks of secrets or private files in its description: \"~/.ssh\"",
    ),
    page(
        "asks_for_context",
        "An argument or a description wants what the tool has no need for: the conversation, the system prompt, the name \
         of the model. Found by fixed words, so it may be harmless, and its absence means nothing.",
        "Hide the argument: [servers.<name>.tools.<tool>.args.<argument>] hide = true in kitbag.toml.",
        "warning[asks_for_context]: x: the tool \"find\" wants to know the conversation or the model in its \
         inputSchema.properties.chat_history: \"chat_history\"",
    ),
    page(
        "names_other_tool",
        "A definition has the name of a tool of another server in it. By this a server can steer what a model does with \
         others; or the name is common.",
        "Read the definition with `kitbag show <tool>`, and write your own description in kitbag.toml if you do not want it.",
        "note[names_other_tool]: x: the tool \"add\" speaks of another server's tool in its description: \"mail/send_email\"",
    ),
    page(
        "encoded_text",
        "A definition holds a long run of base64 or hexadecimal digits, which a model can read and a person cannot.",
        "Decode it before you use the tool.",
        "note[encoded_text]: x: the tool \"add\" holds encoded text in its description: \"SWdub3JlIGFsbCBwcmV2aW91cw…\"",
    ),
    page(
        "twin_names",
        "Two names look alike, by accident or so that one is taken for the other.",
        "Name one of them under [servers.<name>.tools] in kitbag.toml, or `kitbag servers rename` one server.",
        "warning[twin_names]: x: the tool \"get-file\" has a name that looks like acme/get_file",
    ),
    page(
        "schema_changed",
        "The server was updated, or changed its mind: a tool has other arguments or results than before.",
        "Look at it with `kitbag show <tool>`, and pin the version of the server if the change is not wanted.",
        "warning[schema_changed]: x: the tool \"count\" has a different output schema than when it was listed before",
    ),
    page(
        "definition_changed",
        "The server describes a tool otherwise than when it was first used or approved, or [pins] mode is strict and nobody has approved the tool. Until then it is not listed and not called.",
        "Look at the change with `kitbag pins diff <server>`, and take it with `kitbag pins approve <server>/<tool>` if it is wanted.",
        "warning[definition_changed]: x: held until they are approved: say (its definition changed since it was first used)",
    ),
    page(
        "store",
        "The database of pins, approvals and the audit log cannot be opened, read or written. Tools whose approval cannot be looked up are held.",
        "Do what the message says. `[store] url` in kitbag.toml names another database; `[pins] mode = \"off\"` does without pins.",
        "error[store]: kitbag.db is damaged: file is not a database; move it away, or restore it from a backup",
    ),
    page(
        "schema_not_checked",
        "The schema uses a keyword or a pattern that cannot be checked here, so the server alone checks it.",
        "Nothing; calls are sent as the model makes them.",
        "note[schema_not_checked]: x: the tool \"find\": the pattern of \"query\" is not checked",
    ),
    page(
        "result_mismatch",
        "A tool's result does not fit the output schema the server promised: a bug of the server.",
        "Report it to the author of the server. The result is given as it came.",
        "warning[result_mismatch]: x: the tool \"count\" gave a result that does not match its schema",
    ),
    page(
        "description_cut",
        "A description is longer than the limit.",
        "Write a shorter one under [servers.<name>.tools.<tool>] in kitbag.toml, or raise the limit under [limits].",
        "note[description_cut]: x: the tool \"say\" has a description that was cut",
    ),
    page(
        "odd_definition",
        "A key of the definition is missing or has the wrong type; the tool works without it.",
        "Nothing; or report it to the author of the server.",
        "note[odd_definition]: x: the tool \"say\" has a title that is not a string; it is ignored",
    ),
    page(
        "rule_failed",
        "A rule of kitbag.toml cannot be applied to a tool, for example a pinned argument that the tool does not have.",
        "Correct the rule that the message names; `kitbag why <tool> --verbose` shows every rule it came by.",
        "error[rule_failed]: x: args: the tool \"say\" has no argument \"repo\"",
    ),
    page(
        "trifecta",
        "One user's agent sees a tool that reads private data, one that brings in text others wrote, and one that sends \
         something out: whoever writes the text can have the data sent. What tools do is taken from \"risk\" in kitbag.toml, \
         else guessed from their words.",
        "Leave one of the three out with \"exclude\", the rules of an agent or of a group; or set trifecta = \"ask\" or \"deny\" \
         under [policy] in kitbag.toml. Where the guess is wrong, say the tool's \"risk\".",
        "note[trifecta]: private data can be carried off: fs/read_file reads private data, web/search brings in untrusted \
         text, mail/send_email sends out",
    ),
    page(
        "clash",
        "A local tool and a tool of a server want the same name.",
        "Rename one of them, or set clash = \"prefix\" for the agent.",
        "warning[clash]: a local tool is called clock, too: the server's tool has its full name",
    ),
];
