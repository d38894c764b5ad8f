"""A CrewAI crew as a child process of Perdure. Its model is any chat completions server; its tools are those of the run."""

from __future__ import annotations

import os
import threading
from typing import Any

# set before the import, which would otherwise send telemetry
os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")
os.environ.setdefault("OTEL_SDK_DISABLED", "true")

from crewai import LLM, Agent, BaseLLM, Crew, Task
from crewai.tools import BaseTool
from crewai.types.usage_metrics import UsageMetrics
from pydantic import BaseModel, Field, create_model

from perdure_agent import PerdureAgent, Tool, ToolFailed, serve

TYPES: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


def answer(perdure: PerdureAgent, question: str) -> str:
    """Answers a question with a crew of one agent. CrewAI keeps no state between questions."""
    llm = LLM(model=f"openai/{os.environ['OPENAI_MODEL']}", base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
    meter = Meter(perdure, llm)
    tools = [] if perdure.must_finish else [crewai_tool(perdure, tool, meter) for tool in perdure.tools]
    worker = Agent(role="A careful worker", goal="Do the task.", backstory=perdure.prompt, llm=llm, tools=tools, max_retry_limit=0)
    task = Task(description=question, expected_output="A short plain answer.", agent=worker)
    result = Crew(agents=[worker], tasks=[task]).kickoff()
    meter.report()
    return result.raw


class Meter:
    """Reports the model usage since the last report, once per turn."""

    def __init__(self, perdure: PerdureAgent, llm: BaseLLM) -> None:
        self._perdure = perdure
        self._llm = llm
        self._reported = UsageMetrics()
        self._lock = threading.Lock()

    def report(self) -> None:
        with self._lock:
            now, before = self._llm.get_token_usage_summary(), self._reported
            self._reported = now
        if now.total_tokens > before.total_tokens:
            self._perdure.usage(
                now.prompt_tokens - before.prompt_tokens,
                now.completion_tokens - before.completion_tokens,
                now.cached_prompt_tokens - before.cached_prompt_tokens,
            )


def crewai_tool(perdure: PerdureAgent, tool: Tool, meter: Meter) -> BaseTool:
    class PerdureTool(BaseTool):
        name: str = tool.name
        description: str = tool.description
        args_schema: type[BaseModel] = arguments_of(tool)

        def _run(self, **args: Any) -> str:
            meter.report()
            try:
                return perdure.call_tool(tool.name, {name: value for name, value in args.items() if value is not None})
            except ToolFailed as error:
                return f"The call failed: {error}"

    return PerdureTool()


def arguments_of(tool: Tool) -> type[BaseModel]:
    """Converts the schema of a tool to a pydantic model. Nested schemas are not converted, because Perdure validates every call."""
    required = tool.schema.get("required", [])
    fields = {
        name: (
            TYPES.get(schema.get("type", ""), Any) if name in required else TYPES.get(schema.get("type", ""), Any) | None,
            Field(... if name in required else None, description=schema.get("description", "")),
        )
        for name, schema in tool.schema.get("properties", {}).items()
    }
    return create_model(f"{tool.name}_arguments", **fields)


if __name__ == "__main__":
    serve(answer)
