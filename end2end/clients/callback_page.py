"""The page of an app on this machine to which a browser is led back."""

import asyncio
from urllib.parse import parse_qsl, urlsplit


class CallbackPage:
    def __init__(self):
        self._answers = asyncio.Queue()

    async def open(self):
        """Listens on a free port; gives the address."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/callback"

    async def answer(self):
        """What the next browser brings: the parameters in the address."""
        return await self._answers.get()

    async def _serve(self, reader, writer):
        target = urlsplit((await reader.readline()).split()[1].decode())
        while (await reader.readline()).strip():
            pass
        is_here = target.path == "/callback"
        head = b"HTTP/1.1 200 OK" if is_here else b"HTTP/1.1 404 Not Found"
        writer.write(head + b"\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nBack in the app.")
        await writer.drain()
        writer.close()
        if is_here:
            self._answers.put_nowait(dict(parse_qsl(target.query)))
