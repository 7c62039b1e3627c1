/** Times are milliseconds since the epoch by the server's clock. Names sort by bytes, which is the same on every machine. */
export const tables = `
create sequence {s}.tokens;

create table {s}.sessions (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  id text collate "C" not null,
  version integer not null default 0,
  length integer not null default 0,
  status text,
  updated_at double precision not null default 0,
  open_turn text,
  token bigint not null default 0,
  held_until double precision not null default 0,
  primary key (tenant, owner, id)
) with (fillfactor = 80);
create index sessions_by_time on {s}.sessions (tenant, updated_at desc);

create table {s}.turns (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  session text collate "C" not null,
  seq integer not null,
  turn_id text collate "C" not null,
  idempotency_key text collate "C",
  status text not null,
  started_at double precision not null,
  ended_at double precision,
  usage text not null,
  start integer not null,
  count integer not null,
  digest text not null,
  messages bytea not null,
  rest bytea not null,
  info bytea not null,
  primary key (tenant, owner, session, seq),
  foreign key (tenant, owner, session) references {s}.sessions on delete cascade
);
create index turns_by_id on {s}.turns (tenant, owner, session, hashtextextended(turn_id, 0));
create index turns_by_key on {s}.turns (tenant, owner, session, hashtextextended(idempotency_key, 0))
  where idempotency_key is not null;

create table {s}.waiting (
  since bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  session text collate "C" not null,
  call_id text collate "C" not null,
  turn_id text not null,
  name text not null,
  expires_at double precision,
  token text not null,
  foreign key (tenant, owner, session) references {s}.sessions on delete cascade
);
create index waiting_by_session on {s}.waiting (tenant, owner, session);
create index waiting_by_tenant on {s}.waiting (tenant, since);
create index waiting_by_token on {s}.waiting (tenant, token);

create table {s}.outbox (
  seq bigint generated always as identity primary key,
  id text collate "C" not null unique,
  tenant text not null,
  turn_id text not null,
  added_at double precision not null,
  body bytea not null
);
create index outbox_by_time on {s}.outbox (added_at);

create table {s}.outbox_places (
  consumer text collate "C" not null,
  seq bigint not null references {s}.outbox on delete cascade,
  held_until double precision not null,
  done boolean not null,
  primary key (seq, consumer)
);

create table {s}.accounts (
  name text collate "C" primary key,
  spent numeric not null default 0,
  reserved numeric not null default 0,
  ends_at double precision
) with (fillfactor = 50);
create index accounts_by_end on {s}.accounts (ends_at) where ends_at is not null;

create table {s}.holds (
  account text collate "C" not null,
  id text collate "C" not null,
  amount numeric not null,
  settled boolean not null default false,
  at double precision not null,
  primary key (account, id)
) with (fillfactor = 80);
create index holds_by_time on {s}.holds (at);

create table {s}.key_values (
  key text collate "C" primary key,
  value bytea not null,
  expires_at double precision
);
create index key_values_by_expiry on {s}.key_values (expires_at) where expires_at is not null;
`
