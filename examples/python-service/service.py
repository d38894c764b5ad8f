"""A service that runs agents: start, steer, approve, query, result. Nothing of a run is in its memory.

usage: service.py [PORT]

TEMPORAL_ADDRESS: the Temporal server (127.0.0.1:7233)
PERDURE_SIGN: the command that signs requests, such as "npx perdure sign"; only the embedded server needs it
"""

import asyncio
import contextlib
import json
import logging
import os
import shlex
import sys
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

WORKSPACE = str(Path(__file__).parent / "notes")
ANSWER_TIME = timedelta(seconds=5)
RESULT_SECONDS = 20


async def signed(verb: str, run: str, payload: dict) -> dict:
    """The payload with its signature in the field auth. The embedded server takes starts with a workspace, and approvals, only signed."""
    command = shlex.split(os.environ.get("PERDURE_SIGN", ""))
    if not command:
        return payload
    signer = await asyncio.create_subprocess_exec(*command, verb, run, json.dumps(payload), stdout=asyncio.subprocess.PIPE)
    output, _ = await signer.communicate()
    if signer.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)} ended with {signer.returncode}")
    return json.loads(output)


async def start(client: Client, run: str, task: str):
    payload = {"v": 1, "task": task, "agent": "clerk", "context": {"workspace": WORKSPACE}}
    once = WorkflowIDReusePolicy.REJECT_DUPLICATE
    try:
        payload = await signed("start", run, payload)
        await client.start_workflow("agentRun", payload, id=run, task_queue="perdure", id_reuse_policy=once)
        return 202, {"id": run, "duplicate": False}
    except WorkflowAlreadyStartedError:
        return 200, {"id": run, "duplicate": True}


async def decide(handle, call: str, decision: str, by: str):
    payload = {"callId": call, "by": by}
    if decision not in ("approve", "deny"):
        raise ValueError("decision must be approve or deny")
    if decision == "approve":
        payload = await signed("approve", handle.id, payload)
    return 200, await handle.execute_update(decision, payload, rpc_timeout=ANSWER_TIME)


async def result(handle):
    try:
        return 200, await asyncio.wait_for(handle.result(), RESULT_SECONDS)
    except asyncio.TimeoutError:
        return 202, {"reason": None}
    except WorkflowFailureError as error:
        # the reason "error" fails the workflow; the failure holds the whole result
        if isinstance(error.cause, ApplicationError) and error.cause.details:
            return 200, error.cause.details[0]
        return 200, {"reason": "error", "error": {"message": str(error.cause)}}


async def route(client: Client, method: str, path: list[str], body: dict):
    if (method, path) == ("POST", ["runs"]):
        return await start(client, body["id"], body["task"])
    if path[:1] != ["runs"] or len(path) < 2:
        return 404, {"message": "there is no such page"}
    handle = client.get_workflow_handle(path[1])
    match method, path[2:]:
        case "GET", []:
            return 200, await handle.query("progress", rpc_timeout=ANSWER_TIME)
        case "GET", ["approvals"]:
            return 200, (await handle.query("approvals", rpc_timeout=ANSWER_TIME))["pending"]
        case "GET", ["result"]:
            return await result(handle)
        case "POST", ["messages"]:
            await handle.signal("steer", {"text": body["text"]})
            return 202, {}
        case "POST", ["approvals", call]:
            return await decide(handle, call, body["decision"], body["by"])
        case "POST", ["cancel"]:
            await handle.signal("cancel", {})
            return 202, {}
    return 404, {"message": "there is no such page"}


async def answer(client: Client, method: str, path: str, text: bytes):
    """The status and the JSON of an answer."""
    try:
        return await route(client, method, path.strip("/").split("/"), json.loads(text or b"{}"))
    except (KeyError, TypeError, ValueError) as error:
        return 400, {"message": f"bad request: {error}"}
    except WorkflowUpdateFailedError as error:
        return 409, {"message": str(error.cause)}
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        return 503, {"message": "no worker answered"}
    except RPCError as error:
        # a query that is not answered in time: no worker runs
        return 404 if error.status == RPCStatusCode.NOT_FOUND else 503, {"message": error.message}
    except Exception:
        logging.exception("%s %s", method, path)
        return 500, {"message": "the service failed"}


def handler(client: Client, loop: asyncio.AbstractEventLoop):
    class Handler(BaseHTTPRequestHandler):
        def reply(self):
            text = self.rfile.read(int(self.headers.get("content-length", 0)))
            # a web page of another site cannot send this type
            if self.command == "POST" and self.headers.get_content_type() != "application/json":
                return self.send_json(415, {"message": "the content type must be application/json"})
            # the threads of requests share one event loop, and one connection to Temporal
            answered = asyncio.run_coroutine_threadsafe(answer(client, self.command, self.path, text), loop)
            self.send_json(*answered.result())

        def send_json(self, status: int, value):
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = reply

    return Handler


async def main(port: int = 3000):
    client = await Client.connect(os.environ.get("TEMPORAL_ADDRESS", "127.0.0.1:7233"))
    server = ThreadingHTTPServer(("127.0.0.1", port), handler(client, asyncio.get_running_loop()))
    print(f"listening at http://127.0.0.1:{server.server_port}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    await asyncio.Event().wait()


with contextlib.suppress(KeyboardInterrupt):
    asyncio.run(main(*map(int, sys.argv[1:2])))
