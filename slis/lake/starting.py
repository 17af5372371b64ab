"""Start of a pipeline's epoch."""

from datetime import datetime
from typing import NamedTuple

import structlog
from sqlalchemy import Engine

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.epochs import PIPELINE, begin_epoch, read_epoch
from lineage.catalog.meta_keys import LAKE_OWNER
from lineage.lake.manifest import list_folders, query_function
from lineage.lake.storage import Lake
from lineage.process.clock import to_micros
from slis.lake.identity import check_lake, settle_id
from slis.lake.listing import list_names
from slis.lake.names import make_owner
from slis.lake.reconciling import (
    LakeState,
    ManifestChange,
    apply,
    is_restored,
    list_hidden,
    reconcile,
)
from slis.meta import put_meta_once, read_meta
from slis.stream.merge.merge import cursor

log = structlog.get_logger(__name__)


class LakeStart(NamedTuple):
    """Epoch of the pipeline, what the folders of its catalog are known by, and the lake's id."""

    epoch: int
    owner: str
    lake_id: str


def start_epoch(engine: Engine, lake: Lake, now: datetime) -> LakeStart:
    """Return a new epoch: what an older process of the pipeline still writes is never committed.

    Args:
        engine: of the catalog.
        lake: whose folders are listed.
        now: by the pipeline's clock.

    Raises:
        LakeMismatchError: this is not the lake of the catalog; nothing was changed.
    """
    names = list_names(lake)
    with engine.connect() as connection:
        last, committed = read_epoch(connection, PIPELINE), cursor(connection)
        owner = read_meta(connection, LAKE_OWNER) or make_owner()
        visible = list_folders(query_function(connection))
        check_lake(connection, lake, names, visible)
        hidden = list_hidden(connection)
    # A catalog that was restored from a copy may have written folders of later epochs.
    above = max((name.epoch for name in names if name.owner == owner), default=0)
    change = ManifestChange()
    if last == 0 or is_restored(names, visible, last, owner):
        standing = LakeState(visible, committed, max(last, above) + 1, owner, hidden)
        change = reconcile(lake, names, standing, now)
    with exclusive_transaction(engine) as connection:
        owner = put_meta_once(connection, LAKE_OWNER, owner)
        lake_id = settle_id(connection, lake)
        # Else another pipeline has started meanwhile, and has done so.
        if read_epoch(connection, PIPELINE) == last:
            apply(connection, change, now)
        epoch = begin_epoch(connection, PIPELINE, above=above, now=to_micros(now))
    log.info("pipeline_epoch", epoch=epoch, lake=lake.place)
    return LakeStart(epoch, owner, lake_id)
