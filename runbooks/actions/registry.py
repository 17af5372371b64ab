"""Actions by the name that the command line, the API and the policy use."""

from typing import Final

from runbooks.actions import (
    notify_downstream,
    open_suppression,
    reinfer,
    remove_collector,
    replay,
    requeue_notifications,
    requeue_rejected,
    requeue_set_aside,
    restart_role,
    resubmit,
)
from runbooks.actions.action import Action

_ALL = (
    Action(
        name="replay",
        says="Post events of the lake again; known events are not counted twice.",
        arguments=replay.Replay,
        plan=replay.plan,
        perform=replay.perform,
    ),
    Action(
        name="requeue-rejected",
        says=(
            "Post events again that the collector rejected; events that are rejected again stay in"
            " the list."
        ),
        arguments=requeue_rejected.RequeueRejected,
        plan=requeue_rejected.plan,
        perform=requeue_rejected.perform,
    ),
    Action(
        name="requeue-notifications",
        says="Send failed notifications of a channel again, say with a new token.",
        arguments=requeue_notifications.RequeueNotifications,
        plan=requeue_notifications.plan,
        perform=requeue_notifications.perform,
    ),
    Action(
        name="requeue-set-aside",
        says="Post events again that the pipeline set aside because they failed alone.",
        arguments=requeue_set_aside.RequeueSetAside,
        plan=requeue_set_aside.plan,
        perform=requeue_set_aside.perform,
    ),
    Action(
        name="reinfer",
        says="Declare what a run's job reads and writes, by its event log and SQL.",
        arguments=reinfer.Reinfer,
        plan=reinfer.plan,
        perform=reinfer.perform,
    ),
    Action(
        name="resubmit",
        says="Run a SparkApplication that has ended once more, as a copy.",
        arguments=resubmit.Resubmit,
        plan=resubmit.plan,
        perform=resubmit.perform,
    ),
    Action(
        name="restart-role",
        says="Have `lineward up` stop one of its roles and start it again.",
        arguments=restart_role.RestartRole,
        plan=restart_role.plan,
        perform=restart_role.perform,
    ),
    Action(
        name="remove-collector",
        says="Remove a silent collector that does not come back; its ingestion gap ends.",
        arguments=remove_collector.RemoveCollector,
        plan=remove_collector.plan,
        perform=remove_collector.perform,
    ),
    Action(
        name="notify-downstream",
        says="Send each owner downstream one notice, with their own datasets.",
        arguments=notify_downstream.NotifyDownstream,
        plan=notify_downstream.plan,
        perform=notify_downstream.perform,
    ),
    Action(
        name="open-suppression",
        says="Open a window in which what matches opens no incident.",
        arguments=open_suppression.OpenSuppression,
        plan=open_suppression.plan,
        perform=open_suppression.perform,
    ),
)
ACTIONS: Final = {action.name: action for action in _ALL}
