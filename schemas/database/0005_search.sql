-- What searches run.
--
-- `@@` is not leakproof, so under row-level security it can't use the index of words. Hence the search function belongs
-- to kb_pipeline, which passes row-level security, and itself names the transaction's organization in every predicate.

-- Knowledge bases, and sources in whatever state, that a reader may know of. services/query/access.py makes the
-- arguments. Whatever shows or searches sources begins here, and can only narrow it.
--   profile           a knowledge base of scope user is its owner's alone
--   sees_unpublished  also what is not public yet
--   is_guest          comes from another organization: public knowledge bases alone
create function readable_knowledge_base(organization uuid, profile uuid, is_guest boolean) returns setof knowledge_base
    language sql stable parallel safe as $$
        select b.* from knowledge_base b
        where b.organization_id = organization
          and case b.scope when 'public' then true
                           when 'account' then not is_guest
                           else not is_guest and b.owner_profile_id = profile end
$$;

create function readable_source(organization uuid, profile uuid, sees_unpublished boolean, is_guest boolean)
    returns setof knowledge_source
    language sql stable parallel safe as $$
        select s.* from knowledge_source s
        join readable_knowledge_base(organization, profile, is_guest) b
          on b.organization_id = s.organization_id and b.id = s.knowledge_base_id
        where s.organization_id = organization and s.deleted_at is null
          and (s.is_public or (sees_unpublished and not is_guest))
$$;

-- A query of one lexeme, whatever characters it holds.
create function lexeme_query(lexeme text) returns tsquery
    language sql immutable parallel safe strict
    return ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery;

-- What BM25 needs of all of an organization's chunks. Kept counts serve while its size is about the same; without them
-- the average length is that of 5,000 chunks.
create function word_totals(organization uuid) returns table (chunks bigint, average_length float8, is_kept boolean)
    language plpgsql stable as $$
declare
    size bigint;
begin
    select coalesce(sum(s.chunk_count), 0) into size from knowledge_source s
    where s.organization_id = organization and s.live_revision is not null;
    return query select w.chunks::bigint, w.average_length::float8, true from word_statistics w
    where w.organization_id = organization and abs(w.chunks - size) <= greatest(size, w.chunks) / 10.0;
    if not found then
        return query select size, coalesce(avg(length(first.words)), 1)::float8, false
        from (select w.words from chunk_words w where w.organization_id = organization limit 5000) first;
    end if;
end $$;

-- The lexemes of a text that the organization's chunks hold, rarest first, and how many hold them. Frequencies that are
-- not kept belong to rare or new lexemes, and are counted.
create function query_terms(organization uuid, wanted text, chunks bigint, is_kept boolean)
    returns table (term tsquery, frequency bigint, idf float8)
    language sql stable as $$
        -- Materialized, so that each frequency is counted once.
        with counted as materialized (
            select lexeme_query(l.lexeme) as term, coalesce(
                (select f.chunks::bigint from word_frequency f
                 where is_kept and f.organization_id = organization and f.lexeme = l.lexeme),
                (select count(*) from chunk_words w
                 where w.organization_id = organization and w.words @@ lexeme_query(l.lexeme))) as frequency
            from unnest(to_tsvector('english', wanted)) l
        )
        select c.term, c.frequency, ln(1 + (greatest(chunks, c.frequency) - c.frequency + 0.5) / (c.frequency + 0.5))
        from counted c
        where c.frequency > 0
        order by c.frequency, c.term
$$;

-- The BM25 (k1 1.2, b 0.75) of w.words as an expression, which is several times quicker than a loop over the terms.
-- n.c is 1.2 * (0.25 + 0.75 * length / average). How often a term stands in a text is read from its rank, which without
-- weights is 0.1 * 6 / pi^2 times the sum of 1/i^2 over its places: to the whole sum about 1 / (times + 0.5) is missing.
-- times * 2.2 / (times + c) is written so that `times` is computed once.
create function bm25_expression(terms tsquery[], idfs float8[]) returns text
    language sql immutable as $$
        select coalesce(string_agg(format(
            '%s::float8 * (1 - n.c / (n.c + round(1 / (1.6449340668482 - 16.449340668482 * ts_rank(w.words, %L)) - 0.5)))',
            t.idf * 2.2, t.term), ' + '), '0::float8')
        from unnest(terms, idfs) as t (term, idf)
$$;

-- Both arms' best chunks, each with its true score in both. The vector arm is left out without a vector or space, the
-- keyword arm without a word that the organization's chunks hold.
--   pool        candidates of each arm
--   bases, sources, kinds, public_only   the user's filters; null or false: none
-- Means and deviations are over all chunks that the reader can see within the filters; where BM25 was not computed it
-- counts as 0. Candidates by words hold one of the rarest terms, as many terms as bring about 2,500 visible chunks.
create function search_candidates(
    wanted text, query_vector text, space_id integer, pool integer,
    profile uuid, sees_unpublished boolean, is_guest boolean,
    bases uuid[], sources uuid[], kinds text[], public_only boolean)
    returns table (
        chunk_id uuid, source_id uuid, cosine float8, bm25 float8,
        cosine_mean float8, cosine_deviation float8, bm25_mean float8, bm25_deviation float8)
    language plpgsql stable security definer rows 60
    set search_path = public, pg_temp
    set jit = off
as $$
#variable_conflict use_column
declare
    budget constant integer := 2500;
    organization constant uuid := current_organization();
    space embedding_space;
    vectors text := '(select null::uuid as organization_id, null::uuid as source_id, null::uuid as chunk_id where false)';
    cosine text := 'null::float8';
    visible_sources uuid[];
    visible_chunks bigint;
    totals record;
    terms tsquery[];
    idfs float8[];
    candidate_terms text;
begin
    select array_agg(s.id), coalesce(sum(s.chunk_count), 0) into visible_sources, visible_chunks
    from readable_source(organization, profile, sees_unpublished, is_guest) s
    where s.live_revision is not null and s.archived_at is null
      and (bases is null or s.knowledge_base_id = any(bases))
      and (sources is null or s.id = any(sources))
      and (kinds is null or s.kind = any(kinds))
      and (not public_only or s.is_public);
    if visible_sources is null then
        return;
    end if;

    select * into totals from word_totals(organization);
    select array_agg(t.term), array_agg(t.idf),
           string_agg(t.term::text, ' | ') filter (
               where visible_chunks <= budget or t.before * visible_chunks < budget * totals.chunks)
    into terms, idfs, candidate_terms
    from (select q.*, coalesce(sum(q.frequency) over (
                     order by q.frequency, q.term rows between unbounded preceding and 1 preceding), 0) as before
          from query_terms(organization, wanted, totals.chunks, totals.is_kept) q) t;

    select * into space from embedding_space e where e.id = space_id and query_vector is not null;
    if space.id is not null then
        vectors := format('chunk_vector_%s', space.id);
        cosine := format('1 - (v.embedding <=> $1::halfvec(%s))', space.dimensions);
    end if;

    return query execute format(
        'with visible as materialized (
             select unnest($3) as source_id
         ), scanned as materialized (
             select v.chunk_id, v.source_id, %2$s as cosine
             from %1$s v join visible on visible.source_id = v.source_id
             where v.organization_id = $2
         ), matched as materialized (
             select w.chunk_id, w.source_id, %3$s as score
             from chunk_words w join visible on visible.source_id = w.source_id cross join lateral (%4$s) n
             where w.organization_id = $2 and w.words @@ $4
         ), cosines as (
             select avg(cosine) as mean, stddev_pop(cosine) as deviation from scanned
         ), scores as (
             select coalesce(sum(score), 0) / $6 as mean,
                    sqrt(greatest(0, coalesce(sum(score * score), 0) / $6 - (coalesce(sum(score), 0) / $6) ^ 2)) as deviation
             from matched
         ), best as (
             (select chunk_id, source_id from scanned order by cosine desc, chunk_id limit $7)
             union
             (select chunk_id, source_id from matched order by score desc, chunk_id limit $7)
         )
         select best.chunk_id, best.source_id, %2$s, coalesce(%3$s, 0),
                cosines.mean, cosines.deviation, scores.mean, scores.deviation
         from best
         cross join cosines
         cross join scores
         left join %1$s v on v.organization_id = $2 and v.source_id = best.source_id and v.chunk_id = best.chunk_id
         left join chunk_words w
             on w.organization_id = $2 and w.source_id = best.source_id and w.chunk_id = best.chunk_id
         cross join lateral (%4$s) n',
        vectors, cosine, bm25_expression(terms, idfs),
        -- `offset 0` keeps it from being computed for each term.
        'select 1.2 * (0.25 + 0.75 * length(w.words) / $5) as c offset 0')
    using query_vector, organization, visible_sources, candidate_terms::tsquery, totals.average_length,
          greatest(visible_chunks, 1), pool;
end $$;

-- Counts an organization's words anew. Lexemes of few chunks are not kept: counting those when they are asked for is
-- as quick. Searches meanwhile read the old counts.
create function refresh_word_statistics(organization uuid) returns void
    language plpgsql as $$
declare
    rare constant integer := 20;
begin
    perform pg_advisory_xact_lock(hashtext('refresh_word_statistics'), hashtext(organization::text));
    merge into word_frequency f
    using (select * from ts_stat(format('select words from chunk_words where organization_id = %L', organization))
           where ndoc > rare) now
    on f.organization_id = organization and f.lexeme = now.word
    when matched and f.chunks <> now.ndoc then update set chunks = now.ndoc
    when not matched then insert values (organization, now.word, now.ndoc)
    when not matched by source and f.organization_id = organization then delete;
    insert into word_statistics as w (organization_id, chunks, average_length, refreshed_at)
    select organization, count(*), coalesce(avg(length(words)), 1), now()
    from chunk_words where organization_id = organization
    on conflict (organization_id) do update
    set chunks = excluded.chunks, average_length = excluded.average_length, refreshed_at = excluded.refreshed_at;
end $$;

-- An organization that was never heard of gets its row and its default knowledge base before its first own request.
create function ensure_current_organization(default_base uuid) returns void
    language sql security definer set search_path = public, pg_temp
    begin atomic
        select ensure_organization(current_organization(), default_base);
    end;

grant create on schema public to kb_pipeline;         -- an owner has to have it at the moment of becoming one
alter function search_candidates(text, text, integer, integer, uuid, boolean, boolean, uuid[], uuid[], text[], boolean)
    owner to kb_pipeline;
alter function ensure_current_organization(uuid) owner to kb_pipeline;
revoke create on schema public from kb_pipeline;
revoke execute on function
    search_candidates(text, text, integer, integer, uuid, boolean, boolean, uuid[], uuid[], text[], boolean),
    ensure_current_organization(uuid), refresh_word_statistics(uuid) from public;
grant execute on function
    search_candidates(text, text, integer, integer, uuid, boolean, boolean, uuid[], uuid[], text[], boolean),
    ensure_current_organization(uuid) to kb_query;
grant execute on function refresh_word_statistics(uuid) to kb_pipeline;
