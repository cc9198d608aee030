-- name: around
-- The chunks next to given ones: place in the given list from 0, whether it comes after, and what is shown.
select given.place::integer - 1, beside.ordinal > p.ordinal, beside.chunk_id, beside.ordinal, c.text
from unnest(%(sources)s::uuid[], %(chunks)s::uuid[]) with ordinality as given (source_id, chunk_id, place)
join readable_source(%(organization)s, %(profile)s, %(sees_unpublished)s, %(is_guest)s) s
  on s.id = given.source_id and s.archived_at is null
join chunk_place p
  on p.organization_id = %(organization)s and p.source_id = given.source_id and p.chunk_id = given.chunk_id
join chunk_place beside
  on beside.organization_id = %(organization)s and beside.source_id = given.source_id
 and beside.ordinal in (p.ordinal - 1, p.ordinal + 1)
join chunk c
  on c.organization_id = %(organization)s and c.source_id = given.source_id and c.id = beside.chunk_id
