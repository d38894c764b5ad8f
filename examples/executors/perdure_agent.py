"""The child side of Perdure's executor protocol: JSON Lines on standard input and output.

Uses only the standard library. ``serve`` is all that an agent of a framework needs::

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

#: Concurrent calls from several threads within this time are sent as one batch, which is one turn of the run.
GATHER_SECONDS = 0.02

#: Time to wait for the rest of an announced batch. A framework drops calls that it refuses itself, so some may never arrive.
ANNOUNCED_SECONDS = 2.0


@dataclass(frozen=True)
class Tool:
    """A tool of the run. Its schema is a JSON Schema of an object."""

    name: str
    description: str
    schema: dict[str, Any]


class ToolFailed(Exception):
    """The call failed, was denied, or was not made. The text contains the reason for the model."""


class RunCancelled(Exception):
    """The run was cancelled, or its worker died. Further output is ignored."""


class PerdureAgent:
    """A run, from the view of its agent. All methods are thread-safe."""

    def __init__(self, source: TextIO, sink: TextIO) -> None:
        self._source = source
        self._sink = sink
        self._lock = threading.Lock()
        self._gathered: list[tuple[dict[str, Any], Future[str]]] = []
        self._announced = 0
        self._waiting: dict[str, Future[str]] = {}
        self._notices: list[str] = []
        self._questions: queue.Queue[str | None] = queue.Queue()
        self._calls = 0
        start = json.loads(source.readline() or "{}")
        if start.get("type") != "start" or start.get("v") != PROTOCOL_VERSION:
            raise ValueError(f"the first line is not a start message of version {PROTOCOL_VERSION}")
        self.run_id: str = start["runId"]
        #: The instructions of the agent, from its definition and its workspace.
        self.prompt: str = start["prompt"]
        self.task: str = start["task"]
        #: The transcript in Perdure's format. Contains more than the task if a lost process is restarted.
        self.messages: list[dict[str, Any]] = start["messages"]
        self.tools = [Tool(tool["name"], tool["description"], tool["schema"]) for tool in start["tools"]]
        self._finish: str | None = start.get("finish")
        threading.Thread(target=self._read, name="perdure", daemon=True).start()

    @classmethod
    def connect(cls) -> PerdureAgent:
        """Reserves standard input and output for the run. Output that a framework prints goes to standard error; its standard input is empty."""
        source = os.fdopen(os.dup(0), encoding="utf-8")
        sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        return cls(source, sink)

    @property
    def must_finish(self) -> bool:
        """True if the run expects the final answer. Calls are no longer made."""
        return self._finish is not None

    def call_tool(self, name: str, args: dict[str, Any]) -> str:
        """Makes one call and waits for its result, including a pending approval. Messages of users received meanwhile are appended to the result.

        Raises ToolFailed or RunCancelled.
        """
        if self._finish is not None:
            raise ToolFailed(f"not run: {self._finish}")
        result: Future[str] = Future()
        with self._lock:
            self._calls += 1
            self._gathered.append(({"id": str(self._calls), "name": name, "args": args}, result))
            gathered, announced = len(self._gathered), self._announced
        if gathered == announced:
            self._send_gathered()
        elif gathered == 1:
            threading.Timer(ANNOUNCED_SECONDS if announced else GATHER_SECONDS, self._send_gathered, [result]).start()
        return result.result()

    def announce_calls(self, count: int) -> None:
        """Announces that the model asked for ``count`` calls at once. They are sent as one batch as soon as all of them are made.

        Without it, calls belong to one batch if they are made within ``GATHER_SECONDS``.
        """
        with self._lock:
            self._announced = count

    def text(self, text: str) -> None:
        """Streams a piece of the response to watchers."""
        self._send({"type": "text", "text": text})

    def thinking(self, text: str) -> None:
        """Streams a piece of thinking to watchers."""
        self._send({"type": "thinking", "text": text})

    def progress(self, text: str) -> None:
        """Reports progress. An error of the run contains the last report."""
        self._send({"type": "progress", "text": text})

    def usage(self, input_tokens: int, output_tokens: int, cache_read_tokens: int = 0) -> None:
        """Reports the usage of a model call. Call it before the resulting calls or answer, so that budgets apply in time."""
        tokens = {"inputTokens": input_tokens, "outputTokens": output_tokens, "cacheReadTokens": cache_read_tokens}
        self._send({"type": "usage", **tokens})

    def final(self, text: str) -> None:
        """Sends the final answer."""
        self._send({"type": "final", "text": text})

    def error(self, message: str) -> None:
        """Fails the run."""
        self._send({"type": "error", "message": message})

    def next_message(self) -> str:
        """Waits, after the final answer, for the next message of a user. Raises RunCancelled if no message will follow."""
        text = self._questions.get()
        if text is None:
            raise RunCancelled
        return text

    def _send(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._sink.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._sink.flush()

    def _send_gathered(self, first: Future[str] | None = None) -> None:
        """With ``first``: only if this call is still the first of those not sent."""
        with self._lock:
            if first is not None and (not self._gathered or self._gathered[0][1] is not first):
                return
            gathered, self._gathered, self._announced = self._gathered, [], 0
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
        # a message that arrives during calls is appended to their results; otherwise it is the next question
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
    """Answers the task of the run, then messages of users, until the run ends. An exception fails the run with its name."""
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
