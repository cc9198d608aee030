-- name: states
-- How many sources of the organization are in which state, or in which stage on the way.
select coalesce(stage, status), count(*) from knowledge_source
where organization_id = %(organization)s and deleted_at is null
group by 1 order by 1

-- name: sources
-- What has become of the organization's sources.
select id, status, error_code, error_reason, chunk_count from knowledge_source
where organization_id = %(organization)s and deleted_at is null
