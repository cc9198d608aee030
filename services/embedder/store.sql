-- name: staged
-- What the indexer keeps of this very batch, from an earlier delivery.
select payload from revision_batch
where organization_id = %(organization)s and source_id = %(source)s and revision = %(revision)s
  and body_hash = %(body_hash)s and recipe = %(recipe)s and batch = %(batch)s

-- name: meter
-- What was spent, once for each batch of a revision.
insert into embedding_usage (
    organization_id, source_id, revision, space, batch, body_hash, recipe, chunks, reused_chunks, tokens, cost_micros)
select * from unnest(
    %(organizations)s::uuid[], %(sources)s::uuid[], %(revisions)s::bigint[], %(spaces)s::text[], %(batches)s::int[],
    %(body_hashes)s::text[], %(recipes)s::text[], %(chunks)s::int[], %(reused)s::int[], %(tokens)s::int[], %(costs)s::bigint[])
on conflict do nothing

-- name: register
select register_space(%(name)s, %(dimensions)s)

-- name: use
select use_space(%(name)s)
