"""Sentence on each action, for the API and the command line. It imports nothing: help is fast."""

from typing import Final

SUMMARIES: Final = {
    "replay": (
        "Send the lake's events of a time window or run again; known events are not counted twice."
    ),
    "requeue-rejected": (
        "Send rejected events again; events that are rejected again stay in the list."
    ),
    "requeue-notifications": (
        "Send failed notifications of a channel again, for example after a new token."
    ),
    "requeue-set-aside": "Send events again that the pipeline set aside.",
    "reinfer": "Infer what the job of a run reads and writes from its event log and SQL.",
    "resubmit": "Run a finished SparkApplication again, as a copy.",
    "restart-role": "Restart one role of Lineward.",
    "remove-collector": (
        "Remove a silent collector that does not come back (log in Kafka); its ingestion gap ends."
    ),
    "notify-downstream": (
        "Send each downstream owner one notice about their datasets; nobody is paged."
    ),
    "open-suppression": "Suppress incidents of matching datasets until a given time.",
}
