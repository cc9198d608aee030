-- Who may see what, and the row that a new organization begins with.

-- Knowledge bases, and sources in whatever state, that a reader may know of. services/query/access.py makes the
-- arguments. Whatever shows or searches sources begins here, and can only narrow it.
--   profile           a knowledge base of scope user is its owner's alone
--   sees_unpublished  also what is not public yet
--   is_guest          comes from another organization: public knowledge bases alone
create function is_readable(b knowledge_base, profile uuid, is_guest boolean) returns boolean
    language sql immutable parallel safe
    return case b.scope when 'public' then true
                        when 'account' then not is_guest
                        else not is_guest and coalesce(b.owner_profile_id = profile, false) end;

-- `b` is the source's.
create function is_readable(
    s knowledge_source, b knowledge_base, profile uuid, sees_unpublished boolean, is_guest boolean) returns boolean
    language sql immutable parallel safe
    return is_readable(b, profile, is_guest) and s.deleted_at is null
        and (s.is_public or (sees_unpublished and not is_guest));

create function readable_knowledge_base(organization uuid, profile uuid, is_guest boolean) returns setof knowledge_base
    language sql stable parallel safe as $$
        select b.* from knowledge_base b where b.organization_id = organization and is_readable(b, profile, is_guest)
$$;

create function readable_source(organization uuid, profile uuid, sees_unpublished boolean, is_guest boolean)
    returns setof knowledge_source
    language sql stable parallel safe as $$
        select s.* from knowledge_source s
        join knowledge_base b on b.organization_id = s.organization_id and b.id = s.knowledge_base_id
        where s.organization_id = organization and is_readable(s, b, profile, sees_unpublished, is_guest)
$$;

-- An organization that was never heard of gets its row and its default knowledge base before its first own request.
create function ensure_current_organization(default_base uuid) returns void
    language sql security definer set search_path = public, pg_temp
    begin atomic
        select ensure_organization(current_organization(), default_base);
    end;
alter function ensure_current_organization(uuid) owner to kb_pipeline;
revoke execute on function ensure_current_organization(uuid) from public;
grant execute on function ensure_current_organization(uuid) to kb_query;
