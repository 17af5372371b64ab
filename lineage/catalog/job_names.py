"""Index of runs by their own job, as the table and its readers spell it.

Jobs have no table of their own: each is found by one search of the index behind the job before.
"""

from typing import Final

# A namespace and a name of 2,048 bytes each are too long for PostgreSQL's index. A part of the
# namespace fits beside the name. Readers compare the whole namespace too.
NAMESPACE_PART: Final = "substr(job_namespace, 1, 100)"
_PART_OF_GIVEN: Final = "substr(CAST(:job_namespace AS TEXT), 1, 100)"
# Without `|| ''`, SQLite puts the given namespace into the indexed expression, and reads every run.
OF_JOB: Final = (
    f"{NAMESPACE_PART} = {_PART_OF_GIVEN} AND job_name = :job_name"
    " AND job_namespace || '' = :job_namespace"
)
_NEXT_NAME: Final = f"""(
  SELECT job_name FROM run WHERE {NAMESPACE_PART} = j.part AND job_name > j.name
  ORDER BY job_name LIMIT 1)"""  # noqa: S608 - SQL of ours
_NEXT_JOB: Final = f"""(
  SELECT {{column}} FROM run WHERE {NAMESPACE_PART} > j.part
  ORDER BY {NAMESPACE_PART}, job_name LIMIT 1)"""  # noqa: S608 - SQL of ours
# Without `|| ''`, SQLite compares the part as TEXT, and the index, an expression, is of no use.
# `job(part, name)` in their order, the given job first; the last name is null.
_JOBS_FROM: Final = f"""
WITH RECURSIVE job(part, name) AS (
  SELECT CAST({{part}} AS TEXT) || '', CAST({{name}} AS TEXT)
  UNION ALL
  SELECT CASE WHEN {_NEXT_NAME} IS NULL THEN {_NEXT_JOB.format(column=NAMESPACE_PART)}
    ELSE j.part END, COALESCE({_NEXT_NAME}, {_NEXT_JOB.format(column="job_name")})
  FROM job j WHERE j.name IS NOT NULL
)
"""  # noqa: S608 - SQL of ours
WITH_JOBS_FROM: Final = _JOBS_FROM.format(part=":part", name=":name")
# The first has neither part nor name.
WITH_EVERY_JOB: Final = _JOBS_FROM.format(part="''", name="''")
WITH_JOBS_OF_NAMESPACE: Final = f"""
WITH RECURSIVE job(part, name) AS (
  SELECT s.part, (
    SELECT job_name FROM run WHERE {NAMESPACE_PART} = s.part ORDER BY job_name LIMIT 1)
  FROM (SELECT {_PART_OF_GIVEN} AS part) AS s
  UNION ALL
  SELECT j.part, {_NEXT_NAME} FROM job j WHERE j.name IS NOT NULL
)
"""  # noqa: S608 - SQL of ours
