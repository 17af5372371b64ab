"""Name of this release."""

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """Return the installed version; an uninstalled checkout has none."""
    try:
        return version("lineward")
    except PackageNotFoundError:
        return "0+uninstalled"
