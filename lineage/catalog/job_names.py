"""The index of runs by their own job, as the table and its readers spell it.

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
_FIRST_PART: Final = f"SELECT {NAMESPACE_PART} FROM run ORDER BY {NAMESPACE_PART} LIMIT 1"  # noqa: S608 - SQL of ours
_NEXT_PART: Final = f"""
SELECT {NAMESPACE_PART} FROM run WHERE {NAMESPACE_PART} > s.part ORDER BY {NAMESPACE_PART} LIMIT 1
"""  # noqa: S608 - SQL of ours
_EVERY_PART: Final = f"""
  SELECT ({_FIRST_PART})
  UNION ALL
  SELECT ({_NEXT_PART}) FROM space s WHERE s.part IS NOT NULL
"""  # noqa: S608 - SQL of ours
_ONE_PART: Final = f"SELECT {_PART_OF_GIVEN}"
_JOBS: Final = f"""
WITH RECURSIVE space(part) AS ({{parts}}), job(part, name) AS (
  SELECT s.part, (
    SELECT job_name FROM run WHERE {NAMESPACE_PART} = s.part ORDER BY job_name LIMIT 1)
  FROM space s WHERE s.part IS NOT NULL
  UNION ALL
  SELECT j.part, (
    SELECT job_name FROM run WHERE {NAMESPACE_PART} = j.part AND job_name > j.name
    ORDER BY job_name LIMIT 1)
  FROM job j WHERE j.name IS NOT NULL
)
"""  # noqa: S608 - SQL of ours
_NEXT_NAME: Final = f"""(
  SELECT job_name FROM run WHERE {NAMESPACE_PART} = j.part AND job_name > j.name
  ORDER BY job_name LIMIT 1)"""  # noqa: S608 - SQL of ours
_NEXT_JOB: Final = f"""(
  SELECT {{column}} FROM run WHERE {NAMESPACE_PART} > j.part
  ORDER BY {NAMESPACE_PART}, job_name LIMIT 1)"""  # noqa: S608 - SQL of ours
# Without `|| ''`, SQLite compares the part as TEXT, and the index, an expression, is of no use.
# `job(part, name)` in their order, the job `:part`, `:name` first; its last name is null.
WITH_JOBS_FROM: Final = f"""
WITH RECURSIVE job(part, name) AS (
  SELECT CAST(:part AS TEXT) || '', CAST(:name AS TEXT)
  UNION ALL
  SELECT CASE WHEN {_NEXT_NAME} IS NULL THEN {_NEXT_JOB.format(column=NAMESPACE_PART)}
    ELSE j.part END, COALESCE({_NEXT_NAME}, {_NEXT_JOB.format(column="job_name")})
  FROM job j WHERE j.name IS NOT NULL
)
"""  # noqa: S608 - SQL of ours
# `job(part, name)`: name is null once behind the last job of each part.
WITH_EVERY_JOB: Final = _JOBS.format(parts=_EVERY_PART)
WITH_JOBS_OF_NAMESPACE: Final = _JOBS.format(parts=_ONE_PART)
