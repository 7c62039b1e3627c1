/** Cached values, the placeholders of sessions, and the audit chains of tenants. */
export const values = `
create table key_values (
  key text primary key,
  value blob not null,
  expires_at integer,
  tenant text,
  owner text,
  token integer not null default 0
) strict, without rowid;
create index key_values_by_expiry on key_values (expires_at) where expires_at is not null;
create index key_values_by_owner on key_values (tenant, owner) where tenant is not null;

create table vault (
  tenant text not null, owner text not null, agent text not null, session text not null, layer text not null,
  body blob not null,
  sealed_as text not null,
  token integer not null default 0,
  primary key (tenant, owner, agent, session, layer)
) strict, without rowid;

create table audit (
  tenant text not null,
  seq integer not null,
  at integer not null,
  body blob not null,
  digest blob not null,
  key text,
  primary key (tenant, seq)
) strict, without rowid;
create unique index audit_by_key on audit (tenant, key) where key is not null;
`
