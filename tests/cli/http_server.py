# SPDX-License-Identifier: MIT
"""A web server that behaves like good and bad mirrors: http_server.py FOLDER. It prints its port, then serves
/good/FILE with ranges, /plain/FILE without, /cut/FILE in part and /wrong/FILE changed, until stdin ends.
"""
import http.server
import pathlib
import sys
import threading

FOLDER = pathlib.Path(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        habit, _, name = self.path.strip("/").partition("/")
        file = FOLDER / name
        if habit not in ("good", "plain", "cut", "wrong") or not file.is_file():
            self.send_error(404)
            return
        body, first = file.read_bytes(), 0
        if habit == "wrong":
            body = body[:-1] + bytes([body[-1] ^ 1])
        asked = self.headers.get("Range", "")
        if habit in ("good", "cut") and asked.startswith("bytes="):
            first = int(asked[6:].partition("-")[0])
        with (FOLDER / "requests.log").open("a") as log:
            log.write(f"{habit} {first}\n")
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - first))
        self.end_headers()
        rest = body[first:]
        self.wfile.write(rest[:len(rest) // 2] if habit == "cut" else rest)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
