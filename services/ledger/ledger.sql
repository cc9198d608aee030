-- name: progress
-- Which of the revisions are still wanted. Notes the stage of those and renews a lease that is half over.
-- A row that somebody else is just writing is left to them.
with asked as (
    select * from unnest(%(organizations)s::uuid[], %(sources)s::uuid[], %(revisions)s::bigint[])
        as asked (organization_id, id, revision)
), wanted as (
    select s.organization_id, s.id, s.revision, s.stage, s.due_at
    from asked join knowledge_source s using (organization_id, id, revision)
    where s.status = 'ingesting' and s.deleted_at is null
), touched as (
    update knowledge_source s
    set stage = %(stage)s,
        due_at = case when s.due_at < now() + %(lease)s / 2 then now() + %(lease)s else s.due_at end
    from (
        select k.organization_id, k.id from knowledge_source k join wanted w using (organization_id, id, revision)
        where k.status = 'ingesting' and (k.stage is distinct from %(stage)s or k.due_at < now() + %(lease)s / 2)
        order by k.organization_id, k.id
        for update of k skip locked
    ) free
    where s.organization_id = free.organization_id and s.id = free.id
)
select organization_id, id, revision from wanted

-- name: fail
-- The revision has failed for good. What was live stays live, and is refreshed again when its time to live is over.
with failed as (
    update knowledge_source s
    set status = 'failed', stage = null, error_code = %(code)s, error_reason = %(reason)s, updated_at = now(),
        priority = 3,
        due_at = now() + case when s.live_revision is not null then b.time_to_live end
    from knowledge_base b
    where s.organization_id = %(organization)s and s.id = %(source)s and s.revision = %(revision)s
      and s.status = 'ingesting' and s.deleted_at is null
      and b.organization_id = s.organization_id and b.id = s.knowledge_base_id
    returning s.organization_id, s.id, s.knowledge_base_id, s.external_id, s.revision, s.live_revision
), told as (
    insert into source_event (organization_id, id, source_id, revision, type, data)
    select organization_id, %(event_id)s, id, revision, %(type)s, jsonb_strip_nulls(jsonb_build_object(
        'organization_id', organization_id, 'source_id', id, 'knowledge_base_id', knowledge_base_id,
        'external_id', external_id, 'revision', revision, 'live_revision', live_revision,
        'code', %(code)s::text, 'reason', %(reason)s::text))
    from failed
    on conflict do nothing
), emptied as (
    delete from revision_batch r using failed f where r.organization_id = f.organization_id and r.source_id = f.id
)
select count(*) from failed

-- name: retry
-- The revision is to be tried again after a pause, unless it has been tried too often. Gives the attempts made.
update knowledge_source
set status = 'pending', stage = 'queued', attempts = attempts + %(counts)s, updated_at = now(),
    lapses = 0,
    -- Not before `after`, and not all at the same moment.
    due_at = now() + greatest(%(after)s * (1 + random() / 4),
                              %(pause)s * power(2, least(attempts, 12)) * (0.75 + random() / 2)),
    error_code = %(code)s, error_reason = %(reason)s
where organization_id = %(organization)s and id = %(source)s and revision = %(revision)s
  and status = 'ingesting' and deleted_at is null and attempts + %(counts)s < %(most)s
returning attempts

-- name: pause
-- The stage waits for a dependency; until the note expires no lease of its sources runs out.
insert into stage_pause (stage, instance, code, reason, expires_at)
values (%(stage)s, %(instance)s, %(code)s, %(reason)s, now() + %(lasts)s)
on conflict (stage, instance) do update
set code = excluded.code, reason = excluded.reason, expires_at = excluded.expires_at
