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
        arguments=replay.Replay,
        plan=replay.plan,
        perform=replay.perform,
    ),
    Action(
        name="requeue-rejected",
        arguments=requeue_rejected.RequeueRejected,
        plan=requeue_rejected.plan,
        perform=requeue_rejected.perform,
    ),
    Action(
        name="requeue-notifications",
        arguments=requeue_notifications.RequeueNotifications,
        plan=requeue_notifications.plan,
        perform=requeue_notifications.perform,
    ),
    Action(
        name="requeue-set-aside",
        arguments=requeue_set_aside.RequeueSetAside,
        plan=requeue_set_aside.plan,
        perform=requeue_set_aside.perform,
    ),
    Action(
        name="reinfer",
        arguments=reinfer.Reinfer,
        plan=reinfer.plan,
        perform=reinfer.perform,
    ),
    Action(
        name="resubmit",
        arguments=resubmit.Resubmit,
        plan=resubmit.plan,
        perform=resubmit.perform,
    ),
    Action(
        name="restart-role",
        arguments=restart_role.RestartRole,
        plan=restart_role.plan,
        perform=restart_role.perform,
    ),
    Action(
        name="remove-collector",
        arguments=remove_collector.RemoveCollector,
        plan=remove_collector.plan,
        perform=remove_collector.perform,
    ),
    Action(
        name="notify-downstream",
        arguments=notify_downstream.NotifyDownstream,
        plan=notify_downstream.plan,
        perform=notify_downstream.perform,
    ),
    Action(
        name="open-suppression",
        arguments=open_suppression.OpenSuppression,
        plan=open_suppression.plan,
        perform=open_suppression.perform,
    ),
)
ACTIONS: Final = {action.name: action for action in _ALL}
