"""Where things are: the shipped resources and the user's own folders."""

from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent
_APP = "GPU Planner"


def resources() -> Path:
    """The folder of shipped data: inside the installed package, or beside it in a source tree."""
    packaged = _PACKAGE / "resources"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "resources"


def user_data() -> Path:
    """Where the user's own data are kept. Not created here."""
    return Path(platformdirs.user_data_dir(_APP, appauthor=False))


def user_catalog() -> Path:
    """Where the user's own catalog entries are kept. Not created here."""
    return user_data() / "catalog"


def user_config() -> Path:
    """Where settings are kept. Not created here."""
    return Path(platformdirs.user_config_dir(_APP, appauthor=False))
