-- name: ensure_partitions
-- So far ahead that a stage which stands still for weeks is no reason to lose rows.
select ensure_query_log_partitions(2)

-- name: drop_partitions
select drop_query_log_partitions(%(days)s)

-- name: forget_usage
-- What `recent_uses` does not read any more.
delete from source_usage where day <= (now() at time zone 'utc')::date - 31
