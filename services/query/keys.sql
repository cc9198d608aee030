-- name: find
select organization_id, id, role, profile_id from find_api_key(%(hash)s)

-- name: touch
-- Notes the use of a key, once a minute at most.
update api_key set last_used_at = now()
where organization_id = %(organization)s and id = %(key)s
  and (last_used_at is null or last_used_at < now() - interval '1 minute')

-- name: make
insert into api_key (organization_id, id, name, prefix, hash, role, profile_id)
values (%(organization)s, %(key)s, %(name)s, %(prefix)s, %(hash)s, %(role)s, %(profile)s)
returning id, name, prefix, role, profile_id, created_at, last_used_at, revoked_at

-- name: list
select id, name, prefix, role, profile_id, created_at, last_used_at, revoked_at from api_key
where organization_id = %(organization)s and (%(after)s::uuid is null or id > %(after)s)
order by id limit %(limit)s

-- name: revoke
update api_key set revoked_at = coalesce(revoked_at, now())
where organization_id = %(organization)s and id = %(key)s
returning hash
