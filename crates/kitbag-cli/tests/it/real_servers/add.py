import sys

kind, port = sys.argv[1], int(sys.argv[2])
try:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("add")
    place = {"host": "127.0.0.1", "port": port}
except ImportError:
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("add", host="127.0.0.1", port=port)
    place = {}


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers"""
    return a + b


server.run(transport=kind, **place)
