"""A DAG that sends a campaign every evening: one on the worker itself, and one by Spark."""

from datetime import datetime, timedelta, timezone

from airflow.sdk import DAG
from apns_batch_operator import ApnsBatchOperator

# A directory a night, the same in each try. {{ ds }} is Airflow's date of the run: this is no f-string.
RUN_DIR = "/var/lib/push/good-evening/{{ ds }}"
SHARED_RUN_DIR = "/mnt/shared/good-evening/{{ ds }}"

with DAG(
    "good_evening",
    schedule="0 18 * * *",
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    # Nobody wants the push of an evening that has passed.
    catchup=False,
    max_active_runs=1,
    # For two hours. The command itself waits for inputs and tries again what may pass.
    default_args={"retries": 24, "retry_delay": timedelta(minutes=5)},
) as dag:
    ApnsBatchOperator(
        task_id="send",
        command=["apns-batch", "run", "/etc/push/campaign.yaml", "--run-dir", RUN_DIR],
    )
    # In client mode: with --deploy-mode cluster, spark-submit does not hand on the exit code of the program.
    ApnsBatchOperator(
        task_id="send_by_spark",
        command=["spark-submit", "--deploy-mode", "client", "/opt/push/send.py", SHARED_RUN_DIR],
    )
