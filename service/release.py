"""Which release this is."""

from importlib.metadata import PackageNotFoundError, version


def release() -> str:
    """The installed version; a checkout that was never installed has none."""
    try:
        return version("lineward")
    except PackageNotFoundError:
        return "0+uninstalled"
