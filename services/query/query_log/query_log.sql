-- name: write
-- Adds rows of one organization. A row that is there already, since an acknowledgement was lost, is neither written nor
-- counted again. Gives the sources of the answers, with the number of searches of each day.
with written as (
    insert into query_log
    select r.* from jsonb_populate_recordset(null::query_log, %(rows)s) r
    on conflict do nothing
    returning occurred_at, source_ids
)
select answered.source_id, (w.occurred_at at time zone 'utc')::date as day, count(*)::integer as times
from written w cross join lateral (select distinct unnest(w.source_ids) as source_id) answered
group by 1, 2

-- name: count
-- Adds to the usage of those sources that belong to the organization, in one order, so that writers do not wait for
-- each other in a circle.
insert into source_usage as u (organization_id, source_id, day, times)
select s.organization_id, s.id, used.day, used.times
from unnest(%(sources)s::uuid[], %(days)s::date[], %(times)s::integer[]) as used (source_id, day, times)
join knowledge_source s on s.organization_id = %(organization)s and s.id = used.source_id
order by s.id, used.day
on conflict (organization_id, source_id, day) do update set times = u.times + excluded.times

-- name: page
-- Newest first.
select id, occurred_at, query, k, mode, fusion, space, degraded, filters, chunk_ids, source_ids, scores, cosines, bm25,
       vector_ranks, keyword_ranks, took_ms, role, audience, profile_id, api_key_id, message_id
from query_log
where organization_id = %(organization)s
  and (%(after_time)s::timestamptz is null or (occurred_at, id) < (%(after_time)s, %(after)s::uuid))
order by occurred_at desc, id desc limit %(limit)s
