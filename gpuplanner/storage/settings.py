"""How the window was left: language, theme, recent files, places of docks and columns. Never part of a plan."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpuplanner import paths
from gpuplanner.storage import atomic, strict_json
from gpuplanner.storage.strict_json import NotStrictJson

FILE = "settings.json"
DAMAGED = "settings.damaged.json"
MAX_RECENT = 10
MAX_BYTES = 2**20

Base64 = Annotated[str, Field(max_length=100_000, pattern=r"^[A-Za-z0-9+/]*={0,2}$")]
Width = Annotated[int, Field(ge=0, le=10_000)]


class Settings(BaseModel):
    """What the program remembers between two runs. Keys of another version are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    # None = as the system has it.
    language: Literal["en", "zh"] | None = None
    theme: Literal["system", "light", "dark", "contrast"] = "system"
    recent_files: Annotated[tuple[Annotated[str, Field(max_length=4096)], ...], Field(max_length=MAX_RECENT)] = ()
    # As Qt gives them, in base64.
    window_geometry: Base64 = ""
    window_state: Base64 = ""
    column_widths: dict[Annotated[str, Field(max_length=100)], tuple[Width, ...]] = {}

    def with_recent(self, path: str | Path) -> "Settings":
        """These settings with `path` first among the recent files."""
        newest = str(path)
        recent = (newest, *(one for one in self.recent_files if one != newest))
        return self.changed(recent_files=recent[:MAX_RECENT])

    def without_recent(self, path: str | Path) -> "Settings":
        """These settings without `path` among the recent files."""
        return self.changed(recent_files=tuple(one for one in self.recent_files if one != str(path)))

    def changed(self, **fields: object) -> "Settings":
        """These settings with other values, checked. Raises `pydantic.ValidationError`."""
        return Settings(**{**{name: getattr(self, name) for name in Settings.model_fields}, **fields})  # type: ignore[arg-type]


def load(folder: Path | None = None) -> Settings:
    """The settings as saved, or the defaults.

    A damaged file is set aside beside the new one, never overwritten unread.
    """
    file = (folder or paths.user_config()) / FILE
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError:
        return Settings()
    try:
        if len(data) > MAX_BYTES:
            raise NotStrictJson("too large")
        content = strict_json.decode(strict_json.text_of(data))
        return Settings.model_validate_json(json.dumps(content), strict=True)
    except (NotStrictJson, ValidationError):
        with suppress(OSError):
            os.replace(file, file.with_name(DAMAGED))
        return Settings()


def save(settings: Settings, folder: Path | None = None) -> None:
    """Keep the settings. Raises `OSError` with a sentence as ``strerror``."""
    folder = folder or paths.user_config()
    folder.mkdir(parents=True, exist_ok=True)
    atomic.write_text(folder / FILE, json.dumps(settings.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n")
