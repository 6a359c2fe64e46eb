"""A server that tells every secret it was given, in every way a program may write it, wherever it can speak."""
import base64, json, os, sys, urllib.parse

SECRETS = [os.environ[name] for name in sorted(os.environ) if name.startswith("PLANTED_KEY")]


def chunks(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def forms(secret):
    """Ways to write a secret and nothing else."""
    raw = secret.encode()
    quoted = urllib.parse.quote(secret, safe="")
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret).replace("/", "\\/")[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield json.dumps(json.dumps(secret))[3:-3]
    yield repr(secret)[1:-1]
    yield ascii(secret)[1:-1]
    yield repr(raw)[2:-1]
    yield base64.b64encode(raw).decode().rstrip("=")
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
    yield raw.hex()
    yield raw.hex().upper()
    yield quoted
    yield urllib.parse.quote(secret)
    yield urllib.parse.quote_plus(secret)
    yield "".join(c.lower() if quoted[max(0, at - 2) : at + 1].find("%") >= 0 else c for at, c in enumerate(quoted))


def told(secret):
    """What is said of a secret: its forms, cut, wrapped and among other things."""
    raw = secret.encode()
    yield from forms(secret)
    yield "\n".join("    " + line for line in secret.splitlines())
    yield "\r\n".join(secret.splitlines())
    yield str(secret.splitlines())
    yield json.dumps({"env": {"KEY": secret}, "list": secret.splitlines()})
    yield "\n".join(chunks(secret, 20))
    yield base64.encodebytes(raw).decode()
    yield "\n".join(chunks(raw.hex(), 32))
    yield base64.b64encode(b"user:" + raw).decode()
    yield base64.b64encode(b"u:" + raw + b"@").decode()
    yield secret[: len(secret) // 2] + "…"


if sys.argv[1:] == ["needles"]:
    print(json.dumps([form for secret in SECRETS for form in forms(secret)]))
    sys.exit()

TOLD = [f"case {number}: {text}" for number, secret in enumerate(SECRETS) for text in told(secret)]
TELL = "\n".join(TOLD) + "\nthat was all"


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(id, name, params):
    token = (params.get("_meta") or {}).get("progressToken")
    if name == "note":
        say({"method": "notifications/message", "params": {"level": "info", "data": TELL}})
        say({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "message": TELL}})
    if name == "refuse":
        return say({"id": id, "error": {"code": -32000, "message": TELL}})
    if name == "die":
        sys.exit(3)
    blob = base64.b64encode(TELL.encode()).decode()
    file = {"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/plain", "blob": blob}}
    content = [{"type": "text", "text": TELL}] + ([file] if name == "file" else [])
    structured = {"all": TOLD, "lines": [secret.splitlines() for secret in SECRETS]}
    say({"id": id, "result": {"content": content, "structuredContent": structured, "isError": name == "fail"}})


sys.stderr.write(TELL + "\n")
sys.stderr.flush()
if os.environ.get("MODE") == "crash":
    sys.exit(3)
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        info = {"name": "planted", "version": "1"}
        say({"id": id, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        names = ["fail", "refuse", "note", "file", "die"]
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
        about = "\n".join(told(SECRETS[0]))
        schema = {"type": "object", "properties": {"key": {"type": "string", "default": SECRETS[5]}}}
        say({"id": id, "result": {"tools": [{"name": "tell", "description": about, "inputSchema": schema}] + tools}})
    elif method == "tools/call":
        call(id, params["name"], params)
    elif id is not None:
        say({"id": id, "error": {"code": -32601, "message": "no " + method}})
