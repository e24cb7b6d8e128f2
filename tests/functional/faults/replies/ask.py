"""A client of the scripted model that tells, on one line for each reply, what it was given."""

import http.client
import json
import time

FIRST = "Looking. [run:ls] tool_calls usage=yes whole"
LAST = "Done. [] stop usage=yes whole"
RUN = {"name": "run", "parameters": {"type": "object", "properties": {"command": {}}}}
PATIENCE = 1.5


def asked(number):
    """A body that asks for a turn; each has one message more than the one before."""
    said = [{"role": "user", "content": str(n)} for n in range(number + 1)]
    tools = [{"type": "function", "function": RUN}]
    more = {"stream": True, "stream_options": {"include_usage": True}}
    return json.dumps({"model": "m", "messages": said, "tools": tools, **more})


def reply(number):
    """What comes: the head of the reply, and as much of its body as is good."""
    model = http.client.HTTPConnection("model", 8080, timeout=PATIENCE)
    try:
        path, kind = "/v1/chat/completions", {"content-type": "application/json"}
        model.request("POST", path, asked(number), kind)
        head = model.getresponse()
        body = head.read()
    finally:
        model.close()
    if head.status != 200:
        return f"status {head.status} {head.headers.get('retry-after')} {body.decode()}"
    if head.headers.get_content_type() != "text/event-stream":
        return f"type {head.headers.get_content_type()}"
    return told(body.decode().split("\n\n"))


def told(events):
    """What the events of a stream say."""
    text, end, usage = "", None, None
    calls: dict[int, list[str]] = {}
    ids: list[str] = []
    for event in events[:-1]:
        data = event.partition("data: ")[2]
        if data == "[DONE]":
            said = f"{short(text)} [{' '.join(map(called, calls.values()))}] {end}"
            twice = len(set(ids)) < len(ids)
            return f"{said} usage={counted(usage)} {'twice' if twice else 'whole'}"
        chunk = json.loads(data)
        if "error" in chunk:
            return f"error within: {chunk['error']['message']}"
        usage = chunk.get("usage") or usage
        for choice in chunk["choices"]:
            end = choice["finish_reason"] or end
            text += choice["delta"].get("content") or choice["delta"].get("refusal") or ""
            for part in choice["delta"].get("tool_calls", ()):
                call = calls.setdefault(part["index"], ["", ""])
                ids += [part["id"]] if part.get("id") else []
                call[0] += part["function"].get("name") or ""
                call[1] += part["function"].get("arguments") or ""
    return "no terminator"


def short(text):
    """A text, or how much of one there is."""
    return text if len(text) < 100 else f"({len(text)} characters)"


def called(call):
    """A call, with the command that its arguments name."""
    name, arguments = call
    try:
        return f"{name}:{json.loads(arguments)['command']}"
    except ValueError:
        return f"{name}:unreadable"


def counted(usage):
    """Whether the tokens that are reported can be so."""
    if usage is None:
        return "none"
    return "yes" if 1 <= usage["prompt_tokens"] < 1000 else "wrong"


lines: list[str] = []
while len(lines) < 5 and lines[-1:] != [LAST]:
    begun = time.monotonic()
    try:
        line = reply(len(lines))
    except (OSError, http.client.HTTPException, ValueError) as error:
        line = type(error).__name__
    late = " late" if time.monotonic() - begun > 0.3 else ""
    lines.append(line + late)
    print(line + late, flush=True)
print("clean" if lines == [FIRST, LAST] else "not clean")
