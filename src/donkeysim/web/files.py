"""Files of a page, served with media types of our own: those of the operating system may be missing or wrong."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
"""Only files with these endings are served."""

SHARED_FOLDER = Path(__file__).parent / "static"
"""Style, icon, scripts and pictures that all pages share; a page mounts it at /shared."""

SCENE_PICTURES = SHARED_FOLDER / "scenes"
"""A picture of each scene of the menu, by its name."""


def answer_file(path: Path) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page: it answers an HTML file."""

    async def show_file(_request: Request) -> Response:
        return FileResponse(path, media_type="text/html; charset=utf-8")

    return show_file


class PageFiles(StaticFiles):
    """A folder of static files; anything without a known ending does not exist."""

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return the file's answer with the media type of `MEDIA_TYPES`."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        media_type = MEDIA_TYPES[Path(full_path).suffix]
        response.headers["content-type"] = (
            media_type if media_type.startswith("image/") else f"{media_type}; charset=utf-8"
        )
        return response

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return where the file lies, or that there is none."""
        return super().lookup_path(path) if Path(path).suffix in MEDIA_TYPES else ("", None)
