-- name: stale
-- Organizations that are large enough for kept statistics, and whose kept ones are missing or a twentieth off.
select n.organization_id
from (select organization_id, sum(chunk_count) as chunks from knowledge_source
      where live_revision is not null group by organization_id) n
left join word_statistics w using (organization_id)
where n.chunks >= %(least)s and (w.organization_id is null or abs(w.chunks - n.chunks) > n.chunks / 20)
order by w.refreshed_at nulls first

-- name: refresh
select refresh_word_statistics(%(organization)s)

-- name: forget_pauses
delete from stage_pause where expires_at < now() - interval '1 day'
