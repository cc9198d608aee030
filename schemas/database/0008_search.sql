-- What searches run.
--
-- `@@` is not leakproof, so under row-level security it can't use the index of words. Hence search_chunks belongs to
-- kb_pipeline, which passes row-level security, and itself names the transaction's organization in every predicate.
-- All functions are stable: what they read is one snapshot, that of the statement that calls them.

-- Bounds. A vector arm of up to exact_numbers (visible chunks x dimensions) is computed in full. Of the keyword arm:
create type search_limits as (
    exact_numbers integer,
    budget      integer,                              -- chunks that hold a rare term, after which listed terms are common
    terms       integer,                              -- of a query
    stemmers    integer,                              -- languages that a query is understood in
    lists       integer,                              -- of common terms that are read
    listed      integer,                              -- chunks of those that are scored
    together    integer,                              -- chunks that hold several common terms and are scored
    hold_all    integer,                              -- how many may be expected to hold them
    hnsw_share  float8                                -- of the organization that has to be visible
);
create function search_bounds() returns search_limits
    language sql immutable parallel safe
    return row(3000000, 200, 32, 5, 4, 200, 100, 500, 0.3)::search_limits;

-- How much wider the candidates by words have to be than the bounds say: the more chunks there are, the more of them are
-- nearly as good as the best.
create function breadth_of(of_all bigint) returns integer
    language sql immutable parallel safe
    return case when of_all > 20000 then 2 else 1 end;

-- A query of one lexeme, whatever characters it holds.
create function lexeme_query(lexeme text) returns tsquery
    language sql immutable parallel safe strict
    return ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery;

-- What the reader can see within the filters, and what of it is not covered by what upkeep keeps.
create type search_scope as (
    organization    uuid,
    sources         uuid[],
    chunks          bigint,
    is_whole        boolean,                          -- there are no chunks but theirs
    fresh           uuid[],                           -- of the sources
    stemmers        regconfig[],                      -- of their languages, the one of most chunks first
    of_all          bigint                            -- chunks of the organization, as kept; null: nothing is kept
);

create function search_scope(
    organization uuid, profile uuid, sees_unpublished boolean, is_guest boolean,
    bases uuid[], sources uuid[], kinds text[], public_only boolean, metadata jsonb) returns search_scope
    language sql stable as $$
        with source as not materialized (
            select s.id, s.chunk_count, s.kept_revision is distinct from s.live_revision as is_fresh,
                   coalesce(s.language, s.document_language, '') collate "C" as language,
                   -- Never null, which bool_and passes over: hidden sources would seem to be none.
                   (is_readable(s, b, profile, sees_unpublished, is_guest)
                       and s.live_revision is not null and s.archived_at is null
                       and (bases is null or s.knowledge_base_id = any(bases))
                       and (sources is null or s.id = any(sources))
                       and (kinds is null or s.kind = any(kinds))
                       and (not public_only or s.is_public)
                       and (search_scope.metadata is null or s.metadata @> search_scope.metadata)) is true as is_visible
            from knowledge_source s
            join knowledge_base b on b.organization_id = s.organization_id and b.id = s.knowledge_base_id
            where s.organization_id = organization and s.chunk_count > 0 offset 0
        ), seen as (
            select array_agg(id) filter (where is_visible) as ids,
                   sum(chunk_count) filter (where is_visible) as chunks, bool_and(is_visible) as is_whole,
                   array_agg(id) filter (where is_visible and is_fresh) as fresh,
                   min(language) filter (where is_visible) as first, max(language) filter (where is_visible) as last
            from source
        )
        select row(organization, ids, coalesce(chunks, 0), is_whole, coalesce(fresh, '{}'),
                   case when first = last then array[stemmer_of(nullif(first, ''))]
                        else (select array_agg(l.stemmer order by l.chunks desc, l.stemmer) from (
                                  select stemmer_of(nullif(of_language.language, '')) as stemmer,
                                         sum(of_language.chunks) as chunks
                                  from (select language, sum(chunk_count) as chunks from source where is_visible group by 1) of_language
                                  group by 1 order by 2 desc limit (search_bounds()).stemmers) l) end,
                   (select w.chunks from word_statistics w where w.organization_id = organization))::search_scope
        from seen
$$;

-- The lexemes of a query that the organization's chunks hold, rarest first, how many hold them, and whether their best
-- chunks are listed. `prose` are words, each stemmed in every language of the scope; one that its main language doesn't
-- search for is left out. Frequencies that are not kept belong to rare or new lexemes, and are counted.
create function query_terms(scope search_scope, prose text[], verbatim text[])
    returns table (lexeme text, frequency bigint, is_listed boolean)
    language sql stable as $$
        with asked as (
            select distinct l.lexeme
            from unnest(prose) word
            cross join lateral (select to_tsvector(scope.stemmers[1], word) as words) main
            cross join unnest(scope.stemmers) stemmer
            cross join lateral unnest(
                case when stemmer = scope.stemmers[1] then main.words else to_tsvector(stemmer, word) end) l
            where main.words <> ''
            union
            select unnest(verbatim)
        ), counted as materialized (
            select a.lexeme, f.chunks is not null and f.chunks > (upkeep_sizes()).top_least as is_listed,
                   coalesce(f.chunks::bigint, (
                       select count(*) from chunk_words w
                       where w.organization_id = scope.organization and w.words @@ lexeme_query(a.lexeme))) as frequency
            from asked a
            left join word_frequency f on f.organization_id = scope.organization and f.lexeme = a.lexeme
        )
        select c.lexeme, c.frequency, c.is_listed from counted c where c.frequency > 0
        order by c.frequency, c.lexeme limit (search_bounds()).terms
$$;

-- The BM25 (k1 1.2, b 0.75) of w.words as an expression, which is several times quicker than a loop over the terms.
-- n.c is 1.2 * (0.25 + 0.75 * length / average). How often a term stands in a text is read from its rank, which without
-- weights is 0.1 * 6 / pi^2 times the sum of 1/i^2 over its places: to the whole sum about 1 / (times + 0.5) is missing.
-- times / (times + c) is written so that `times` is computed once. A weight is 2.2 times what a term's rarity is worth.
create function bm25_expression(terms tsquery[], weights float8[]) returns text
    language sql immutable as $$
        select coalesce(string_agg(format(
            '%s::float8 * (1 - n.c / (n.c + round(1 / (1.6449340668482 - 16.449340668482 * ts_rank(w.words, %L)) - 0.5)))',
            t.weight, t.term), ' + '), '0::float8')
        from unnest(terms, weights) as t (term, weight)
$$;

-- A query's terms as the keyword arm uses them.
create type search_words as (
    expression      text,                             -- the BM25 of w, given n
    norm            text,                             -- the subquery n of w; `offset 0` keeps it from being computed for each term
    candidates      tsquery,                          -- whose chunks are all scored
    common          tsquery,                          -- the others, of which the best chunks are; null: none
    lists           text[],                           -- lexemes of those, rarest first
    weights         float8[],                         -- what an impact of 1 in those lists is worth
    shares          float8[],                         -- of the chunks that hold them
    unlisted        float8,                           -- what terms that are neither listed nor among the candidates are worth
    together        tsquery,                          -- the rarest of the common terms, if few chunks hold them all
    is_bounded      boolean,                          -- there may be chunks with a term that are not scored
    total           float8,                           -- the weights of all terms: more no chunk can have
    deviation       float8                            -- of the BM25 of all chunks, as the frequencies let expect
);

create function search_words(scope search_scope, prose text[], verbatim text[], is_bounded boolean) returns search_words
    language plpgsql stable as $$
declare
    bounds constant search_limits := search_bounds();
    breadth constant integer := breadth_of(scope.of_all);
    size bigint;
    average float8;
    found search_words;
begin
    if scope.of_all is not null then
        select greatest(w.chunks, scope.chunks), w.average_length into size, average
        from word_statistics w where w.organization_id = scope.organization;
    else
        -- Hidden sources count too: else what a term weighs would depend on the reader.
        select sum(s.chunk_count) into size from knowledge_source s
        where s.organization_id = scope.organization and s.live_revision is not null;
        select coalesce(avg(length(first.words)), 1) into average
        from (select w.words from chunk_words w where w.organization_id = scope.organization limit 5000) first;
    end if;
    with weighed as (
        select q.lexeme, q.is_listed, lexeme_query(q.lexeme) as query,
               q.frequency::float8 / greatest(size, q.frequency) as share,
               2.2 * ln(1 + (greatest(size, q.frequency) - q.frequency + 0.5::float8) / (q.frequency + 0.5)) as weight,
               -- As many chunks are likely to be visible of this one and the rarer ones.
               sum(q.frequency) over (order by q.frequency, q.lexeme) * scope.chunks / greatest(size, 1) as so_far
        from query_terms(scope, prose, verbatim) q
    ), parted as (
        select w.*, is_bounded and w.is_listed and w.so_far > breadth * bounds.budget as is_common from weighed w
    ), placed as (
        select p.*, row_number() over rarest as turn, size * exp(sum(ln(p.share)) over rarest) as hold_all from parted p
        window rarest as (partition by p.is_common order by p.share, p.lexeme)
    ), term as (
        select p.*, case
                   when p.is_common then p.turn <= bounds.lists
                   -- Of very many rare terms the rarest lead to the best chunks.
                   else not is_bounded or p.turn = 1 or p.so_far <= 6 * breadth * bounds.budget
               end as is_taken,
               -- As many as it takes for few chunks to hold them all, if they have nothing to do with each other.
               p.is_common and (p.turn <= 2 or lag(p.hold_all) over (partition by p.is_common order by p.turn)
                                               > bounds.hold_all) as is_together
        from placed p
    )
    select bm25_expression(array_agg(t.query), array_agg(t.weight)),
           string_agg(t.query::text, ' | ') filter (where not t.is_common and t.is_taken),
           string_agg(t.query::text, ' | ') filter (where t.is_common),
           array_agg(t.lexeme) filter (where t.is_common and t.is_taken),
           array_agg(t.weight) filter (where t.is_common and t.is_taken),
           array_agg(t.share) filter (where t.is_common and t.is_taken),
           coalesce(sum(t.weight) filter (where not t.is_taken), 0),
           case when count(*) filter (where t.is_together) > 1
                     and min(t.hold_all) filter (where t.is_together) <= 2 * bounds.hold_all
                then string_agg(t.query::text, ' & ') filter (where t.is_together) end,
           sum(t.weight), sqrt(sum(t.weight ^ 2 * t.share * (1 - t.share)))
    into found.expression, found.candidates, found.common, found.lists, found.weights, found.shares, found.unlisted,
         found.together, found.total, found.deviation
    from term t;
    found.norm := format('select 1.2 * (0.25 + 0.75 * length(w.words) / %s) as c offset 0', average);
    found.is_bounded := is_bounded;
    return found;
end $$;

-- What an arm found: its best chunks with their scores, in no order.
create type search_arm as (
    sources         uuid[],
    chunks          uuid[],
    scores          float8[],
    mean            float8,                           -- of cosines, over all that the reader can see
    deviation       float8
);

-- The part of a predicate that keeps to visible sources: a look at each row that can be spared where nothing is hidden.
create function visible_only(scope search_scope, relation text) returns text
    language sql immutable as $$
        select case when scope.is_whole then '' else format('and %s.source_id = any(($1).sources)', relation) end
$$;

-- Chunks that may be among the best $3 for the common terms, as CTEs: $1 scope, $2 words, and the CTE `scored` of what is
-- scored anyway. The lists tell what a chunk is worth at least, and at most: it may hold every term in whose list it isn't,
-- and that for as much as any that is not listed. What is worth less at most than the $3th at least is not scored (Fagin's
-- threshold algorithm). If that says too little, those that are likely to be worth most are taken, and some that hold several
-- terms. Lists may still name chunks of sources that have gone, which must not count; that is put as a case, since to guess
-- how many rows a condition leaves the planner would look at each of some thousand ids.
create function common_statement(scope search_scope) returns text
    language sql immutable as $$
        select format(
            'list as materialized (
                 select t.sources, t.chunks, t.impacts, q.weight, q.weight * coalesce(t.rest, 1) as most,
                        q.weight * t.rest * q.share * 0.7 as likely
                 from unnest(($2).lists, ($2).weights, ($2).shares) as q (lexeme, weight, share)
                 left join word_top t on t.organization_id = ($1).organization and t.lexeme = q.lexeme
             ), listed as materialized (
                 select l.source_id, l.chunk_id, sum(list.weight * l.impact) as least, sum(list.most) as known,
                        sum(list.weight * l.impact - list.likely) as likely
                 from list cross join lateral unnest(list.sources, list.chunks, list.impacts)
                     as l (source_id, chunk_id, impact)
                 where case when l.source_id = any(($1).sources) then true end %1$s
                 group by 1, 2
             ), bound as materialized (
                 select coalesce(greatest(
                            (select least from listed order by least desc offset $3 - 1 limit 1),
                            (select score from scored order by score desc offset $3 - 1 limit 1)), 0) as least,
                        ($2).unlisted + (select sum(most) from list) as most
             ), promising as (
                 (select l.source_id, l.chunk_id from listed l
                  where l.least - l.known >= (select least - most from bound)
                  order by l.likely desc, l.chunk_id limit greatest(%2$s, 2 * $3))
                 union
                 (select w.source_id, w.chunk_id from chunk_words w
                  where (select most >= least from bound)
                    and w.organization_id = ($1).organization and w.words @@ ($2).together %3$s limit %4$s)
                 %5$s
             ),',
            case when scope.fresh <> '{}' then 'and l.source_id <> all(($1).fresh)' end,
            (search_bounds()).listed * breadth_of(scope.of_all), visible_only(scope, 'w'),
            (search_bounds()).together * breadth_of(scope.of_all),
            case when scope.fresh <> '{}' then
                'union
                 select w.source_id, w.chunk_id from unnest(($1).fresh) as fresh (source_id)
                 join chunk_words w on w.organization_id = ($1).organization and w.source_id = fresh.source_id
                 where w.words @@ ($2).common' end)
$$;

-- The statement of the keyword arm: $1 scope, $2 words, $3 pool, $4 chunks that are scored whatever they hold.
create function keyword_statement(scope search_scope, words search_words) returns text
    language sql immutable as $$
        select format(
            'with scored as materialized (
                 select w.source_id, w.chunk_id, %1$s as score
                 from chunk_words w cross join lateral (%2$s) n
                 where w.organization_id = ($1).organization and w.words @@ ($2).candidates %3$s
             ), %4$s matched as materialized (
                 select * from scored
                 %5$s
             ), best as (select * from matched where score > 0 order by score desc, chunk_id limit $3)
             select array_agg(source_id), array_agg(chunk_id), array_agg(score), count(*) filter (where score > 0)
             from (select * from best union select * from matched where chunk_id = any(($4).chunks)) found',
            words.expression, words.norm, visible_only(scope, 'w'),
            case when words.common is not null then common_statement(scope) end,
            case when words.is_bounded then format(
                'union all
                 select w.source_id, w.chunk_id, %1$s
                 from (select * from unnest(($4).sources, ($4).chunks) as asked (source_id, chunk_id) %2$s
                       order by 1, 2) chosen
                 join chunk_words w on w.organization_id = ($1).organization
                     and w.source_id = chosen.source_id and w.chunk_id = chosen.chunk_id
                 cross join lateral (%3$s) n
                 where ($2).candidates is null or not w.words @@ ($2).candidates',
                words.expression,
                case when words.common is not null then 'union select * from promising' end, words.norm) end)
$$;

create function keyword_arm(scope search_scope, words search_words, pool integer, others search_arm) returns search_arm
    language plpgsql stable set jit = off as $$
declare
    matches bigint;
    arm search_arm;
begin
    if coalesce(words.candidates, words.common) is null then
        return null;
    end if;
    execute keyword_statement(scope, words)
    into arm.sources, arm.chunks, arm.scores, matches using scope, words, pool, others;
    if words.common is not null and matches < pool then
        -- The best chunks of the common terms are not this reader's: all that hold one are asked.
        words.candidates := concat_ws(' | ', words.candidates::text, words.common::text)::tsquery;
        words.common := null;
        return keyword_arm(scope, words, pool, others);
    end if;
    return arm;
end $$;

-- Index of an organization's vectors in a space.
create function hnsw_name(organization uuid, space_id integer) returns text
    language sql immutable
    return format('chunk_vector_%s_hnsw_%s', space_id, replace(organization::text, '-', ''));

-- How the vector arm goes about it, by the known number of rows, not by what the planner thinks of it:
-- exact   all visible vectors
-- signs   by signs, the best of those exactly; sources that are not covered exactly
-- hnsw    by the organization's own index, where most of it is visible
create function vector_route(scope search_scope, space embedding_space) returns text
    language sql stable as $$
        select case
            when scope.chunks * space.dimensions <= b.exact_numbers or scope.of_all is null or space.mean is null
                then 'exact'
            when scope.chunks >= b.hnsw_share * scope.of_all and exists (
                select from pg_index i
                where i.indexrelid = to_regclass(hnsw_name(scope.organization, space.id)) and i.indisvalid)
                then 'hnsw'
            else 'signs' end
        from search_bounds() b
$$;

-- How many of the nearest by signs are compared exactly: the fewer signs a vector has, the less they tell. Of 384
-- dimensions an eighth of the chunks.
create function rerank_length(pool integer, chunks bigint, dimensions integer) returns bigint
    language sql immutable
    return least(greatest(150, 5 * pool, chunks * 18432 / dimensions ^ 2)::bigint, 4000);

-- The statement of the vector arm: $1 scope, $2 query vector, $3 pool, $4 length of the rerank, $5 the space's mean.
create function vector_statement(route text, scope search_scope, space embedding_space) returns text
    language sql immutable as $$
        select format(
            -- Read once: a vector as text is long.
            'with asked as materialized (
                 select vector, %s as signs from (select $2::halfvec(%s) as vector offset 0) read
             ), near as materialized (%s),
             spread as (%s),
             best as (select * from near order by cosine desc, chunk_id limit $3)
             select found.*, spread.*
             from (select array_agg(source_id), array_agg(chunk_id), array_agg(cosine) from best) found, spread',
            case route when 'signs' then 'binary_quantize(vector - $5::real[]::halfvec)' else 'null::bit' end,
            space.dimensions,
            case route
                when 'exact' then format(
                    'select v.source_id, v.chunk_id, 1 - (v.embedding <=> (select vector from asked)) as cosine
                     from chunk_vector_%1$s v
                     where v.organization_id = ($1).organization %2$s', space.id, visible_only(scope, 'v'))
                when 'hnsw' then format(
                    'select v.source_id, v.chunk_id, 1 - (v.embedding <=> (select vector from asked)) as cosine
                     from chunk_vector_%1$s v
                     where v.organization_id = %2$L %3$s
                     order by v.embedding <=> (select vector from asked) limit $3',
                    space.id, scope.organization, visible_only(scope, 'v'))
                else format(
                    'select v.source_id, v.chunk_id, 1 - (v.embedding <=> (select vector from asked)) as cosine
                     from (
                         (select s.source_id, s.chunk_id from chunk_signs_%1$s s
                          where s.organization_id = ($1).organization %2$s
                          order by s.signs <~> (select signs from asked) limit $4)
                         %3$s
                     ) nearest
                     join chunk_vector_%1$s v on v.organization_id = ($1).organization
                         and v.source_id = nearest.source_id and v.chunk_id = nearest.chunk_id',
                    space.id, visible_only(scope, 's'), case when scope.fresh <> '{}' then format(
                        'union
                         select v.source_id, v.chunk_id from unnest(($1).fresh) as fresh (source_id)
                         join chunk_vector_%s v
                             on v.organization_id = ($1).organization and v.source_id = fresh.source_id', space.id) end)
            end,
            case route
                when 'exact' then 'select avg(cosine) as mean, stddev_pop(cosine) as deviation from near'
                else format(
                    'select avg(cosine) as mean, stddev_pop(cosine) as deviation
                     from (select 1 - (s.embedding <=> (select vector from asked)) as cosine
                           from vector_sample_%1$s s where s.organization_id = ($1).organization) sample', space.id)
            end)
$$;

create function vector_arm(scope search_scope, space embedding_space, vector text, pool integer, route text)
    returns search_arm
    language plpgsql stable set jit = off as $$
declare
    arm search_arm;
begin
    -- Else a sort of everything seems cheaper than the index.
    perform set_config('enable_sort', case route when 'hnsw' then 'off' else 'on' end, true);
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
    perform set_config('hnsw.ef_search', greatest(100, least(2 * pool, 1000))::text, true);
    execute vector_statement(route, scope, space) into arm
    using scope, vector, pool, rerank_length(pool, scope.chunks, space.dimensions), space.mean;
    if route = 'hnsw' and coalesce(cardinality(arm.chunks), 0) < least(pool, scope.chunks) then
        return vector_arm(scope, space, vector, pool, 'signs');  -- the scan gave up before it found enough that is visible
    end if;
    return arm;
end $$;

-- The cosines of the chunks that the keyword arm found, but for those that are known.
create function cosines_of(organization uuid, space embedding_space, vector text, found search_arm, known uuid[])
    returns search_arm
    language plpgsql stable as $$
declare
    arm search_arm;
begin
    execute format(
        'select array_agg(v.source_id), array_agg(v.chunk_id), array_agg(1 - (v.embedding <=> (select $2::halfvec(%s))))
         from unnest($3, $4) as f (source_id, chunk_id)
         join chunk_vector_%s v
             on v.organization_id = $1 and v.source_id = f.source_id and v.chunk_id = f.chunk_id
         where f.chunk_id <> all($5)', space.dimensions, space.id)
    into arm.sources, arm.chunks, arm.scores
    using organization, vector, found.sources, found.chunks, coalesce(known, '{}');
    return arm;
end $$;

-- What a point of BM25 is worth beside a deviation of the cosine. With the whole of its own deviation the words of every
-- query would have the same say, with none of it a name that stands alone would not be heard. Where the best chunk holds
-- more of the query than usual, words are what it is found by.
--   best        the highest BM25
--   total       the highest that is possible
create function bm25_worth(best float8, total float8, deviation float8) returns float8
    language sql immutable parallel safe
    return 0.43 / case when deviation > 1e-9 then deviation ^ 0.75 else 1 end
        * greatest(1, best / nullif(0.55 * total, 0)) ^ 2;

-- What a candidate is worth. Where it counts nothing the fusion leaves it out.
--   scores   the cosine in deviations from its mean over what the reader can see, and what the BM25 is worth beside it
--   rrf      the sum of 1 / (60 + rank) over the arms that put it forward
--   dense, keyword   one arm alone
create function fused_score(
    fusion text, cosine float8, bm25 float8, cosine_mean float8, cosine_deviation float8, bm25_worth float8,
    vector_rank bigint, keyword_rank bigint) returns float8
    language sql immutable parallel safe
    return case fusion
        when 'scores' then
            case when cosine_deviation > 1e-9 and cosine is not null
                then (cosine - cosine_mean) / cosine_deviation else 0 end
            + case when bm25 > 0 then bm25_worth * bm25 else 0 end
        when 'rrf' then nullif(coalesce(1.0 / (60 + vector_rank), 0) + coalesce(1.0 / (60 + keyword_rank), 0), 0)
        when 'dense' then cosine
        when 'keyword' then nullif(bm25, 0) end;

-- The best chunks of both arms together, best first; equal ones in the order of ids. The vector arm is left out without a
-- vector or space, the keyword arm without a word that the organization's chunks hold.
--   prose, verbatim   the query's words, see schemas/words.py
--   fusion            see fused_score
--   pool              candidates of each arm; each is judged by its true score in both
--   most              chunks of the answer
--   bases, sources, kinds, public_only, metadata   the user's filters; null or false: none
-- The cosines' mean and deviation are over all chunks that the reader can see within the filters, in a large organization
-- over a sample of it.
create function search_chunks(
    prose text[], verbatim text[], query_vector text, space_id integer, fusion text, pool integer,
    most integer,
    profile uuid, sees_unpublished boolean, is_guest boolean,
    bases uuid[], sources uuid[], kinds text[], public_only boolean, metadata jsonb)
    returns table (
        chunk_id uuid, source_id uuid, score float8, cosine float8, vector_rank bigint, bm25 float8,
        keyword_rank bigint, has_words boolean)
    language plpgsql stable security definer rows 20
    set search_path = public, pg_temp
as $$
#variable_conflict use_column
declare
    scope search_scope;
    space embedding_space;
    words search_words;
    by_words search_arm;
    by_vector search_arm;
    others search_arm;
    worth float8;
begin
    scope := search_scope(
        current_organization(), profile, sees_unpublished, is_guest, bases, sources, kinds, public_only, metadata);
    if scope.sources is null then
        return;
    end if;
    words := search_words(scope, prose, verbatim, scope.of_all is not null and scope.chunks > (search_bounds()).budget);
    select * into space from embedding_space e where e.id = space_id and query_vector is not null;
    if space.id is not null then
        by_vector := vector_arm(scope, space, query_vector, pool, vector_route(scope, space));
    end if;
    by_words := keyword_arm(scope, words, pool, by_vector);
    worth := bm25_worth((select max(score) from unnest(by_words.scores) score), words.total, words.deviation);
    if space.id is not null then
        others := cosines_of(scope.organization, space, query_vector, by_words, by_vector.chunks);
    end if;
    return query
        with candidate as (
            select c.chunk_id, c.source_id, max(c.cosine) as cosine, coalesce(max(c.bm25), 0) as bm25
            from (select source_id, chunk_id, score as cosine, null::float8 as bm25
                  from unnest(by_vector.sources || others.sources, by_vector.chunks || others.chunks,
                              by_vector.scores || others.scores) as v (source_id, chunk_id, score)
                  union all
                  select source_id, chunk_id, null, score
                  from unnest(by_words.sources, by_words.chunks, by_words.scores) as w (source_id, chunk_id, score)) c
            group by 1, 2
        ), ranked as (
            select c.*,
                   case when c.cosine is not null then nullif(least(
                       row_number() over (order by c.cosine desc nulls last, c.chunk_id), pool + 1), pool + 1)
                   end as vector_rank,
                   case when c.bm25 > 0 then nullif(least(
                       row_number() over (order by c.bm25 desc, c.chunk_id), pool + 1), pool + 1) end as keyword_rank
            from candidate c
        )
        select r.chunk_id, r.source_id, f.score, r.cosine, r.vector_rank, r.bm25, r.keyword_rank,
               max(r.bm25) over () > 0
        from ranked r
        cross join lateral (
            select fused_score(
                fusion, r.cosine, r.bm25, by_vector.mean, by_vector.deviation, worth,
                r.vector_rank, r.keyword_rank) as score) f
        where f.score is not null
        order by f.score desc, r.chunk_id limit most;
end $$;

alter function search_chunks(
    text[], text[], text, integer, text, integer, integer, uuid, boolean, boolean, uuid[], uuid[], text[], boolean, jsonb)
    owner to kb_pipeline;
revoke execute on function search_chunks(
    text[], text[], text, integer, text, integer, integer, uuid, boolean, boolean, uuid[], uuid[], text[], boolean, jsonb)
    from public;
grant execute on function search_chunks(
    text[], text[], text, integer, text, integer, integer, uuid, boolean, boolean, uuid[], uuid[], text[], boolean, jsonb)
    to kb_query;
