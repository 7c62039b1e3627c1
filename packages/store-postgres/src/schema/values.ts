/** Cached values, the placeholders of sessions, and the audit chains of tenants. */
export const values = `
create table {s}.key_values (
  key text collate "C" primary key,
  value bytea not null,
  expires_at double precision,
  tenant text collate "C",
  owner text collate "C",
  token bigint not null default 0
);
create index key_values_by_expiry on {s}.key_values (expires_at) where expires_at is not null;
create index key_values_by_owner on {s}.key_values (tenant, owner) where tenant is not null;

create table {s}.vault (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  layer text collate "C" not null,
  body bytea not null,
  sealed_as text collate "C" not null,
  token bigint not null default 0,
  primary key (tenant, owner, agent, session, layer)
);

create table {s}.audit (
  tenant text collate "C" not null,
  seq bigint not null,
  at double precision not null,
  body bytea not null,
  digest bytea not null,
  key text collate "C",
  primary key (tenant, seq)
);
create unique index audit_by_key on {s}.audit (tenant, key) where key is not null;

-- Each write also deletes some expired values.
create function {s}.set_value(
  _key text, _value bytea, _ttl double precision, _tenant text, _owner text, _lease bigint, _began double precision
) returns boolean language plpgsql set enable_seqscan = off as $$
declare
  _token bigint := 0;
begin
  if _tenant is not null then _token := {s}.writer_token(_tenant, _owner, null, null, _lease, _began); end if;
  if _token is null then return false; end if;
  delete from {s}.key_values where key = any (array(
    select key from {s}.key_values where expires_at <= (select {s}.now_ms()) and key <> _key
    order by expires_at limit 100 for update skip locked
  ));
  insert into {s}.key_values (key, value, expires_at, tenant, owner, token)
    values (_key, _value, {s}.now_ms() + _ttl, _tenant, _owner, _token)
    on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at, tenant = excluded.tenant,
      owner = excluded.owner, token = excluded.token;
  return true;
end $$;

create function {s}.save_vault(
  _tenant text, _owner text, _agent text, _session text, _layer text, _body bytea, _lease bigint, _began double precision
) returns boolean language plpgsql as $$
declare
  _token bigint := {s}.writer_token(_tenant, _owner, _agent, _session, _lease, _began);
begin
  if _token is null then return false; end if;
  insert into {s}.vault (tenant, owner, agent, session, layer, body, sealed_as, token)
    values (_tenant, _owner, _agent, _session, _layer, _body, _agent, _token)
    on conflict (tenant, owner, agent, session, layer)
    do update set body = excluded.body, sealed_as = excluded.sealed_as, token = excluded.token;
  return true;
end $$;
`
