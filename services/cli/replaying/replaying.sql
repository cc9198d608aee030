-- name: present
-- Those of an answer's chunks that the organization still has.
select c.id
from unnest(%(sources)s::uuid[], %(chunks)s::uuid[]) as answered (source_id, chunk_id)
join chunk c
  on c.organization_id = %(organization)s and c.source_id = answered.source_id and c.id = answered.chunk_id
