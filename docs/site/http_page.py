# SPDX-License-Identifier: MIT
"""Makes the page docs/http-api.md from docs/openapi.yaml."""
import pathlib

import yaml

HEAD = """# HTTP API

A coordinator ([`kaiseki serve`](serve.md)) has an HTTP API for programs that give work to a pool. This page lists its requests.

```sh
curl -sf -H "Authorization: Bearer $(cat "$STATE/author.token")" "$URL/api/tasks"
```

The script `docs/site/reference http` makes this page from [openapi.yaml](openapi.yaml).
Request bodies and answers are JSON. An error is `{"error": "..."}`. [The coordinator](serve.md#http) has examples.
"""


def number(value):
    return f"{value:g}".replace("e-0", "e-").replace("e+0", "e") if isinstance(value, float) else str(value)


def word(schema):
    """Returns a type in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        return f"[{name}](#{name.lower()})"
    if "oneOf" in schema:
        return " or ".join(map(word, schema["oneOf"]))
    kind = schema.get("type", "object")
    if kind == "array":
        return f"list of {word(schema['items'])}"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if kind == "object" and schema.get("properties"):
        return "object with " + ", ".join(f"`{key}` ({word(one)})" for key, one in schema["properties"].items())
    low, high = schema.get("minimum"), schema.get("maximum")
    span = f", {number(low)} to {number(high)}" if high is not None else f", {low} or more" if low is not None else ""
    return {"array": "list"}.get(kind, kind) + span


def row(name, schema, description="", place=""):
    default = f"`{str(schema['default']).lower()}`" if "default" in schema else ""
    cells = [f"`{name}`", *([place] if place else []), word(schema), default, schema.get("description", description)]
    return "| " + " | ".join(cells) + " |"


def fields(schema):
    return ["| field | type | default | meaning |", "|---|---|---|---|"] + [row(*one) for one in schema.get("properties", {}).items()]


def resolved(one, kinds):
    return kinds[one["$ref"].split("/")[-1]] if "$ref" in one else one


def who(operation):
    security = operation.get("security")
    return "no token" if security == [] else "the token of an author or a node" if security else "an author's token"


def section(path, method, operation, shared, parts):
    lines = [f"### {method.upper()} {path}", "", f"{operation['summary']}. Needs {who(operation)}.", ""]
    parameters = [resolved(one, parts["parameters"]) for one in shared + operation.get("parameters", [])]
    if parameters:
        lines += ["| parameter | in | type | default | meaning |", "|---|---|---|---|---|"]
        lines += [row(one["name"], one["schema"], one.get("description", ""), one["in"]) for one in parameters] + [""]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body and body.get("properties") and not any("items" in one for one in body["properties"].values()):
        lines += ["Body:", "", *fields(body), ""]
    elif body:
        lines += [f"Body: {word(body)}.", ""]
    answers = []
    for status, answer in operation["responses"].items():
        answer = resolved(answer, parts["responses"])
        content = next(iter(answer.get("content", {}).values()), None)
        of = f": {word(content['schema'])}" if content and status < "300" and answer["description"] != "A list of objects" else ""
        if status < "400":
            lines.append(f"* {status}: {answer['description']}{of if of not in (': object',) else ''}.")
        else:
            answers.append(status)
    lines += [f"* Errors: {', '.join(answers)}."] if answers else []
    return lines + [""]


def page():
    text = yaml.safe_load((pathlib.Path(__file__).resolve().parents[1] / "openapi.yaml").read_text())
    parts = text["components"]
    lines = [HEAD, text["info"]["description"], "", "## Requests", ""]
    for path, methods in text["paths"].items():
        for method, operation in methods.items():
            if method != "parameters":
                lines += section(path, method, operation, methods.get("parameters", []), parts)
    lines += ["## Objects", ""]
    for name, schema in parts["schemas"].items():
        lines += [f"### {name}", "", *([schema["description"], ""] if "description" in schema else []), *fields(schema), ""]
    return "\n".join(lines).rstrip("\n") + "\n"
