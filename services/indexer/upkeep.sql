-- name: stale
-- Large organizations whose kept structures are missing or have fallen behind. `anew`: what was counted is a tenth off.
with sizes as (
    select organization_id, sum(chunk_count) as chunks,
           coalesce(sum(chunk_count) filter (where kept_revision is distinct from live_revision), 0) as fresh
    from knowledge_source where live_revision is not null group by organization_id
)
select s.organization_id,
       w.organization_id is null or greatest(abs(w.chunks - s.chunks), w.merged + s.fresh) > s.chunks / 10 as anew
from sizes s left join word_statistics w using (organization_id)
where s.chunks >= %(least)s
  and (w.organization_id is null or s.fresh > greatest(%(patience)s, s.chunks / 200)
       or abs(w.chunks - s.chunks) > s.chunks / 10)
order by w.refreshed_at nulls first

-- name: refresh
select refresh_upkeep(%(organization)s, %(anew)s)

-- name: dwindled
-- Organizations that have become too small to be kept up.
select w.organization_id from word_statistics w
where (select coalesce(sum(s.chunk_count), 0) from knowledge_source s
       where s.organization_id = w.organization_id and s.live_revision is not null) < %(least)s / 2

-- name: forget
select forget_upkeep(%(organization)s)

-- name: spaces
select id, dimensions from embedding_space order by id

-- name: indexes
-- Indexes of single organizations on the tables of vectors, and whether they are complete.
select c.relname, i.indisvalid from pg_index i join pg_class c on c.oid = i.indexrelid
where i.indrelid = to_regclass(%(table)s) and c.relname like %(names)s

-- name: forget_pauses
delete from stage_pause where expires_at < now() - interval '1 day'
