-- Row-level security on every table of tenants, forced, so that the owner is not exempt either.

create function protect_tenants(tenants_table text) returns void
    language plpgsql as $$
begin
    execute format('alter table %I enable row level security', tenants_table);
    execute format('alter table %I force row level security', tenants_table);
    execute format('create policy tenant on %I using (organization_id = current_organization())', tenants_table);
    execute format('grant select, insert, update, delete on %I to kb_pipeline', tenants_table);
    execute format('grant select on %I to kb_query', tenants_table);
end $$;

do $$
declare
    tenants_table text;
begin
    foreach tenants_table in array array[
        'knowledge_base', 'api_key', 'knowledge_source', 'taken_event', 'source_event', 'embedding_usage',
        'crawl', 'crawl_page', 'crawl_link', 'chunk', 'chunk_place', 'chunk_words', 'revision_batch']
    loop
        perform protect_tenants(tenants_table);
    end loop;
end $$;

alter table organization enable row level security;
alter table organization force row level security;
create policy tenant on organization using (id = current_organization());
grant select, insert, update on organization to kb_pipeline;
grant select, update on organization to kb_query;
grant insert, update, delete on knowledge_base, api_key to kb_query;

grant select on embedding_space to kb_pipeline, kb_query;
grant select, insert, update, delete on stage_pause to kb_pipeline;
grant select on stage_pause to kb_query;
revoke execute on function register_space(text, integer), use_space(text), protect_tenants(text) from public;
grant execute on function register_space(text, integer), use_space(text) to kb_pipeline;

-- The one look-up that comes before an organization is known.
create function find_api_key(wanted bytea) returns table (organization_id uuid, id uuid, role text, profile_id uuid)
    language sql stable security definer set search_path from current
    begin atomic
        select k.organization_id, k.id, k.role, k.profile_id
        from api_key k where k.hash = wanted and k.revoked_at is null;
    end;
alter function find_api_key(bytea) owner to kb_pipeline;
revoke execute on function find_api_key(bytea) from public;
grant execute on function find_api_key(bytea) to kb_query;
