import { tombstoneTtl, usageColumns } from '@allium/store-sql'
import { isRetained } from './0003-event-functions.ts'

const usageColumnNames = usageColumns.map((name) => name.toLowerCase())
const addedTotals = ['runs', 'estimated', ...usageColumnNames]
  .map((name) => `${name} = t.${name} + excluded.${name}`)
  .join(', ')

/** The runs in a usage report, by the day on which they ended. */
export const countedDays = `to_char(to_timestamp(ended_at / 1000) at time zone 'UTC', 'YYYY-MM-DD') as day, count(*) as runs,
  sum(case when usage::json->>'estimated' = 'true' then 1 else 0 end) as estimated,
  ${usageColumns.map((name, i) => `sum(coalesce((usage::json->>'${name}')::double precision, 0)) as ${usageColumnNames[i]}`).join(', ')}`
export const isCounted = "ended_at is not null and status not in ('closed', 'rewound')"

/** Matches rows of a table that are older than an erasure. */
const olderRows = (table: string) => `ctid = any (array(
    select ctid from {s}.${table} where tenant = _tenant and (_owner is null or owner = _owner) and token < _token limit _limit
  ))`

/** Returns `erase_some`. @param tables those whose older rows are deleted */
export const eraseSome = (tables: readonly string[]) => `create function {s}.erase_some(
  _tenant text, _owner text, _token bigint, _run bigint, _limit integer, out stored_ integer, out found_ integer
) language plpgsql as $$
declare
  _owners text[];
  _agents text[];
  _ids text[];
  _more integer;
begin
  select array_agg(o.owner), array_agg(o.agent), array_agg(o.id) into _owners, _agents, _ids from (
    select owner, agent, id from {s}.sessions s where tenant = _tenant and (_owner is null or owner = _owner)
    and (abs(token) < _token or run in (select r.run from {s}.runs r where r.tenant = _tenant and r.n <= _run))
    order by owner, agent, id limit _limit for update
  ) o;
  found_ := coalesce(cardinality(_ids), 0);
  stored_ := case when found_ = 0 then 0 else {s}.forget_sessions(_tenant, _owners, _agents, _ids) end;
  if found_ > 0 then return; end if;
  delete from {s}.runs where n in (
    select n from {s}.runs where tenant = _tenant and (_owner is null or owner = _owner) and n <= _run limit _limit
  );
  get diagnostics found_ = row_count;
  ${tables
    .map(
      (table) =>
        `delete from {s}.${table} where ${olderRows(table)};\n  get diagnostics _more = row_count;\n  found_ := found_ + _more;`,
    )
    .join('\n  ')}
  update {s}.holds set place = null, run = null, tenant = null, owner = null where ${olderRows('holds')};
  get diagnostics _more = row_count;
  found_ := found_ + _more;
end $$;`

/**
 * Erasures are identified by digests under a key of the schema. Writers of an owner's data hold a shared lock; an erasure waits for them
 * and
 * then adds its tombstone. Data stores the token of its writer, so that an erasure deletes older data, and nothing of a run that begins
 * meanwhile. Accounts and holds are named by digests; `place` has the names of a hold that its run may have to settle.
 */
export const erasures = `
create table {s}.digest_key (one boolean primary key default true check (one), key bytea not null);
insert into {s}.digest_key (key)
  values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
create function {s}.digest(_text text) returns text language sql stable as $$
  select encode(sha256(key || convert_to(_text, 'UTF8')), 'base64') from {s}.digest_key
$$;

create table {s}.erasures (
  subject text collate "C" primary key,
  token bigint not null,
  at double precision not null,
  expires_at double precision not null
);
create table {s}.usage_totals (
  subject text collate "C" not null,
  day text not null,
  runs bigint not null,
  estimated bigint not null,
  ${usageColumnNames.map((name) => `${name} double precision not null`).join(', ')},
  primary key (subject, day)
);

alter table {s}.sessions alter column token set default nextval('{s}.tokens');
alter table {s}.vault add column token bigint not null default 0;
alter table {s}.event_runs add column token bigint not null default 0;
alter table {s}.outbox add column token bigint not null default 0;
alter table {s}.key_values add column tenant text collate "C", add column owner text collate "C",
  add column token bigint not null default 0;
create index key_values_by_owner on {s}.key_values (tenant, owner) where tenant is not null;
alter table {s}.holds add column place text, add column tenant text collate "C", add column owner text collate "C",
  add column token bigint not null default 0;
create index holds_by_owner on {s}.holds (tenant, owner) where tenant is not null;

-- Budgets name a run by layer, session and turn: ["guard:budget","[\\"acme\\",\\"ann\\",\\"chat\\"]","chat:1"]
create function {s}.owner_in(_run text) returns text[] language plpgsql as $$
begin
  return array[(_run::json->>1)::json->>0, (_run::json->>1)::json->>1];
exception when others then return null;
end $$;
update {s}.accounts set name = {s}.digest(name);
update {s}.holds set account = {s}.digest(account), id = {s}.digest(id),
  run = case when not settled then {s}.digest(run) end,
  place = case when run is not null and not settled then json_build_array(account, id)::text end,
  tenant = case when not settled then ({s}.owner_in(run))[1] end, owner = case when not settled then ({s}.owner_in(run))[2] end;
drop function {s}.owner_in(text);

create function {s}.erased(_tenant text, _owner text, _agent text, _session text, out token_ bigint, out at_ double precision)
language plpgsql as $$
begin
  if not exists (select from {s}.erasures) then return; end if;
  select max(token), max(at) into token_, at_ from {s}.erasures
    where subject in (
      {s}.digest(to_json(array[_tenant])::text), {s}.digest(to_json(array[_tenant, _owner])::text),
      {s}.digest(to_json(array[_tenant, _owner, _agent, _session])::text)
    ) and expires_at > {s}.now_ms();
end $$;

-- The token of what a writer stores, by its lease or by when its run began; null where its data were erased since.
create function {s}.writer_token(
  _tenant text, _owner text, _agent text, _session text, _lease bigint, _began double precision
) returns bigint language plpgsql as $$
declare
  e record;
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('{s}.erasure ' || _tenant, 0));
  select * into e from {s}.erased(_tenant, _owner, _agent, _session);
  if _lease < e.token_ or _lease is null and _began <= e.at_ then return null; end if;
  -- Null before the first token; the right to use the sequence is enough.
  return coalesce(_lease, pg_sequence_last_value('{s}.tokens'::regclass), 0);
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

-- With each value a few that have expired go.
create function {s}.set_value(
  _key text, _value bytea, _ttl double precision, _tenant text, _owner text, _lease bigint, _began double precision
) returns boolean language plpgsql as $$
declare
  _token bigint := 0;
begin
  if _tenant is not null then _token := {s}.writer_token(_tenant, _owner, null, null, _lease, _began); end if;
  if _token is null then return false; end if;
  delete from {s}.key_values where key in (
    select key from {s}.key_values where expires_at <= (select {s}.now_ms()) and key <> _key limit 100 for update skip locked
  );
  insert into {s}.key_values (key, value, expires_at, tenant, owner, token)
    values (_key, _value, {s}.now_ms() + _ttl, _tenant, _owner, _token)
    on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at, tenant = excluded.tenant,
      owner = excluded.owner, token = excluded.token;
  return true;
end $$;

-- Opens a run only for a writer that is not fenced, and tells that it is gone otherwise.
create function {s}.append_to_run(
  _tenant text, _owner text, _session_agent text, _session text, _turn_id text, _epoch double precision,
  _request text, _id text, _count integer, _body bytea, _end boolean, _ttl double precision, _lease bigint, _began double precision,
  out outcome_ text, out seq_ integer, out ns_ integer[], out ids_ text[], out bodies_ bytea[]
) language plpgsql as $$
declare
  _token bigint;
  _is_new boolean := not exists (
    select from {s}.event_runs r where r.tenant = _tenant and r.owner = _owner and r.agent = _session_agent
    and r.session = _session and r.turn_id = _turn_id and ${isRetained('_ttl')}
  );
begin
  if _is_new then
    _token := {s}.writer_token(_tenant, _owner, _session_agent, _session, _lease, _began);
    if _token is null then
      outcome_ := 'gone';
      return;
    end if;
  end if;
  select a.* into outcome_, seq_, ns_, ids_, bodies_ from {s}.append_to_run(
    _tenant, _owner, _session_agent, _session, _turn_id, _epoch, _request, _id, _count, _body, _end, _ttl
  ) a;
  if not _is_new then return; end if;
  update {s}.event_runs set token = _token
    where tenant = _tenant and owner = _owner and agent = _session_agent and session = _session and turn_id = _turn_id;
end $$;

create function {s}.own_records(_owner text, _ids text[], _lease bigint) returns void language sql as $$
  update {s}.outbox set owner = _owner, token = _lease where id = any (_ids) and owner is null
$$;

create function {s}.begin_erasure(
  _tenant text, _owner text, _agent text, _session text, out token_ bigint, out run_ bigint
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('{s}.erasure ' || _tenant, 0));
  delete from {s}.erasures where expires_at <= {s}.now_ms();
  token_ := nextval('{s}.tokens');
  insert into {s}.erasures values (
    {s}.digest(to_json(array_remove(array[_tenant, _owner, _agent, _session], null))::text),
    token_, {s}.now_ms(), {s}.now_ms() + ${tombstoneTtl}
  ) on conflict (subject) do update set token = excluded.token, at = excluded.at, expires_at = excluded.expires_at;
  select coalesce(max(n), 0) into run_ from {s}.runs;
end $$;

-- What sessions have used stays in the totals of their tenant. Gives how many had something stored.
create function {s}.forget_sessions(_tenant text, _owners text[], _agents text[], _ids text[]) returns integer language plpgsql as $$
declare
  _stored integer;
begin
  insert into {s}.usage_totals as t (subject, day, runs, estimated, ${usageColumnNames.join(', ')})
    select {s}.digest(_tenant), ${countedDays} from {s}.turns
    where tenant = _tenant and (owner, agent, session) in (select * from unnest(_owners, _agents, _ids)) and ${isCounted} group by day
    on conflict (subject, day) do update set ${addedTotals};
  with gone as (
    delete from {s}.sessions where tenant = _tenant and (owner, agent, id) in (select * from unnest(_owners, _agents, _ids)) returning status
  ) select count(status) into _stored from gone;
  return _stored;
end $$;

-- A session that an erasure has not come to yet is gone all the same.
create function {s}.forget_erased(_tenant text, _owner text, _agent text, _session text) returns void language plpgsql as $$
declare
  e record;
begin
  select * into e from {s}.erased(_tenant, _owner, _agent, _session);
  if e.token_ is null then return; end if;
  perform from {s}.sessions where tenant = _tenant and owner = _owner and agent = _agent and id = _session and abs(token) < e.token_ for update;
  if found then perform {s}.forget_sessions(_tenant, array[_owner], array[_agent], array[_session]); end if;
end $$;

-- One step of an erasure. Sessions go first: their leases are void then, so that nothing more is recorded under them.
${eraseSome(['event_runs', 'vault', 'outbox', 'key_values'])}
`
