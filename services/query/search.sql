-- name: has_pgvector
select exists (select from pg_extension where extname = 'vector')

-- name: spaces
select name, id from embedding_space

-- name: search
-- The best chunks with what is cited of them: both arms, fusion, visibility and citation in one snapshot.
select c.chunk_id, c.score, c.cosine, c.vector_rank, c.bm25, c.keyword_rank, c.has_words,
       c.source_id, s.knowledge_base_id, coalesce(s.title, s.document_title, s.filename, s.url) as title,
       coalesce(s.fetched_url, s.url) as url, p.heading_path, p.locator::text, p.ordinal, t.token_count, t.text
from search_chunks(
    %(prose)s::text[], %(verbatim)s::text[], %(vector)s::text, %(space)s::integer, %(fusion)s::text,
    %(pool)s::integer, %(most)s::integer, %(profile)s::uuid, %(sees_unpublished)s, %(is_guest)s,
    %(bases)s::uuid[], %(sources)s::uuid[], %(kinds)s::text[], %(public_only)s, %(metadata)s::jsonb) c
join knowledge_source s on s.organization_id = %(organization)s and s.id = c.source_id
join chunk t on t.organization_id = %(organization)s and t.source_id = c.source_id and t.id = c.chunk_id
join chunk_place p on p.organization_id = %(organization)s and p.source_id = c.source_id and p.chunk_id = c.chunk_id
order by c.score desc, c.chunk_id
