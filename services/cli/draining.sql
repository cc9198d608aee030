-- name: outstanding
-- Sources that wait or are in the pipeline, and status events that upstream has not been told.
select (select count(*) from knowledge_source where status in ('pending', 'ingesting') and archived_at is null),
       (select count(*) from source_event where published_at is null)
