"""The child's side of Perdure's executor protocol: JSON Lines on standard input and output.

Nothing but the standard library. ``serve`` is all that an agent of a framework needs::

    serve(lambda perdure, task: my_framework_agent(task, tools=perdure.tools, call=perdure.call_tool))
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TextIO

PROTOCOL_VERSION = 1

#: Calls that a framework makes at the same time, from threads of its own, go out as one batch: one turn of the run.
GATHER_SECONDS = 0.02


@dataclass(frozen=True)
class Tool:
    """A tool of the run. Its schema is a JSON Schema of an object."""

    name: str
    description: str
    schema: dict[str, Any]


class ToolFailed(Exception):
    """The call failed, was refused, or was not made; the text says which, and is meant for the model."""


class RunCancelled(Exception):
    """The run was cancelled, or its worker is gone. Nothing that is said now is heard."""


class PerdureAgent:
    """A run, as its agent sees it. All methods may be called from any thread."""

    def __init__(self, source: TextIO, sink: TextIO) -> None:
        self._source = source
        self._sink = sink
        self._lock = threading.Lock()
        self._gathered: list[tuple[dict[str, Any], Future[str]]] = []
        self._waiting: dict[str, Future[str]] = {}
        self._notices: list[str] = []
        self._questions: queue.Queue[str | None] = queue.Queue()
        self._calls = 0
        start = json.loads(source.readline() or "{}")
        if start.get("type") != "start" or start.get("v") != PROTOCOL_VERSION:
            raise ValueError(f"the first line is no start of version {PROTOCOL_VERSION}")
        self.run_id: str = start["runId"]
        #: The agent's instructions, as its definition and its workspace give them.
        self.prompt: str = start["prompt"]
        self.task: str = start["task"]
        #: All that was said before, in Perdure's own form; more than the task where a lost process is started again.
        self.messages: list[dict[str, Any]] = start["messages"]
        self.tools = [Tool(tool["name"], tool["description"], tool["schema"]) for tool in start["tools"]]
        self._finish: str | None = start.get("finish")
        threading.Thread(target=self._read, name="perdure", daemon=True).start()

    @classmethod
    def connect(cls) -> PerdureAgent:
        """Takes standard input and output for the run: what a framework prints goes to the error output, what it asks for finds nothing."""
        source = os.fdopen(os.dup(0), encoding="utf-8")
        sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        return cls(source, sink)

    @property
    def must_finish(self) -> bool:
        """The run wants the final answer; calls are not made any more."""
        return self._finish is not None

    def call_tool(self, name: str, args: dict[str, Any]) -> str:
        """Has one call made, and waits for its result: perhaps for a person who approves it. What users said meanwhile stands at its end.

        Raises ToolFailed or RunCancelled.
        """
        if self._finish is not None:
            raise ToolFailed(f"not run: {self._finish}")
        result: Future[str] = Future()
        with self._lock:
            self._calls += 1
            self._gathered.append(({"id": str(self._calls), "name": name, "args": args}, result))
            is_first = len(self._gathered) == 1
        if is_first:
            threading.Timer(GATHER_SECONDS, self._send_gathered).start()
        return result.result()

    def text(self, text: str) -> None:
        """Shows watchers a piece of the answer."""
        self._send({"type": "text", "text": text})

    def thinking(self, text: str) -> None:
        """Shows watchers a piece of thinking."""
        self._send({"type": "thinking", "text": text})

    def progress(self, text: str) -> None:
        """Says what is being done; an error of the run tells the last one."""
        self._send({"type": "progress", "text": text})

    def usage(self, input_tokens: int, output_tokens: int, cache_read_tokens: int = 0) -> None:
        """Tells what a model call used. Before the calls or the answer that came of it, so that budgets see it in time."""
        tokens = {"inputTokens": input_tokens, "outputTokens": output_tokens, "cacheReadTokens": cache_read_tokens}
        self._send({"type": "usage", **tokens})

    def final(self, text: str) -> None:
        """Gives the final answer."""
        self._send({"type": "final", "text": text})

    def error(self, message: str) -> None:
        """Fails the run."""
        self._send({"type": "error", "message": message})

    def next_message(self) -> str:
        """Waits, after the final answer, for what a user says next. Raises RunCancelled when nothing more will come."""
        text = self._questions.get()
        if text is None:
            raise RunCancelled
        return text

    def _send(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._sink.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._sink.flush()

    def _send_gathered(self) -> None:
        with self._lock:
            gathered, self._gathered = self._gathered, []
            self._waiting.update((call["id"], result) for call, result in gathered)
        self._send({"type": "tool_calls", "calls": [call for call, _ in gathered]})

    def _read(self) -> None:
        for text in self._source:
            line = json.loads(text)
            if line["type"] == "cancel":
                break
            self._take(line)
        with self._lock:
            open_calls = [*self._waiting.values(), *(result for _, result in self._gathered)]
        for result in open_calls:
            result.set_exception(RunCancelled())
        self._questions.put(None)

    def _take(self, line: dict[str, Any]) -> None:
        if line["type"] == "tool_results":
            self._take_results(line["results"])
            return
        text = line["text"]
        if line["type"] == "finish":
            self._finish = text
        else:
            text = f"A message from the user: {text}" if self._waiting else text
        # what comes while calls are open is told with their results; else it is the next question
        if self._waiting:
            self._notices.append(text)
        else:
            self._questions.put(text)

    def _take_results(self, results: list[dict[str, Any]]) -> None:
        notices, self._notices = self._notices, []
        for index, result in enumerate(results):
            is_last = index == len(results) - 1
            text = "\n\n".join([result["text"], *(notices if is_last else [])])
            with self._lock:
                waiting = self._waiting.pop(result["callId"])
            if result["isError"]:
                waiting.set_exception(ToolFailed(text))
            else:
                waiting.set_result(text)


def serve(answer: Callable[[PerdureAgent, str], str]) -> None:
    """Answers the run's task, then what users say, until nothing more comes. An exception fails the run with its name."""
    perdure = PerdureAgent.connect()
    question = perdure.task
    try:
        while True:
            perdure.final(answer(perdure, question))
            question = perdure.next_message()
    except RunCancelled:
        sys.stderr.write("perdure: the run is over\n")
    except Exception as error:
        perdure.error(f"{type(error).__name__}: {error}")
        raise
