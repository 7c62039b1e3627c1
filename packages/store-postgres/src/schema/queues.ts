const runningMatches = `status = 'running' and agent = any (_names)
      and hashtextextended(queue, 0) = hashtextextended(_queue, 0) and queue = _queue`
const ofTenant = 'hashtextextended(tenant, 0) = hashtextextended(_tenant, 0) and tenant = _tenant'
const queueIds = 'array(select {s}.queue_id(a, _queue) from unnest(_names) a)'

/** The limits of a queue, over all processes. They come with each claim, because they are code and change with a deploy. */
export const queues = `
create table {s}.queue_turns (
  queue bigint not null,
  tenant text collate "C" not null,
  at double precision not null,
  primary key (queue, tenant)
);
create index queue_turns_by_time on {s}.queue_turns (queue, at);
create index queue_turns_by_age on {s}.queue_turns (at);

create table {s}.queue_starts (
  queue bigint not null,
  tenant text collate "C" not null,
  at double precision not null,
  expires_at double precision not null
);
create index queue_starts_by_time on {s}.queue_starts (queue, at);
create index queue_starts_by_tenant on {s}.queue_starts (queue, tenant, at);
create index queue_starts_by_expiry on {s}.queue_starts (expires_at);

create function {s}.queue_id(_agent text, _queue text) returns bigint language sql immutable as
$$ select hashtextextended(_queue, hashtextextended(_agent, 0)) $$;

-- Until the end of the transaction, no other process can start a run of the queues. Sorted, so that two processes cannot wait for each other.
create function {s}.lock_queues(_names text[], _queues text[]) returns void language plpgsql as $$
declare
  _id bigint;
begin
  for _id in select distinct {s}.queue_id(a, q) as id from unnest(_names) a, unnest(_queues) q order by id loop
    perform pg_advisory_xact_lock(hashtextextended('{s}.queue', _id));
  end loop;
end $$;

-- Returns how many more runs may start, of the whole queue or of one tenant. It needs the lock of the queue.
create function {s}.queue_room(_names text[], _queue text, _limits jsonb, _tenant text) returns integer language plpgsql as $$
declare
  _running integer := _limits ->> case when _tenant is null then 'concurrency' else 'perTenant' end;
  _starts integer := _limits -> 'rateLimit' ->> case when _tenant is null then 'limit' else 'perTenant' end;
  _since double precision := {s}.now_ms() - coalesce((_limits -> 'rateLimit' ->> 'period')::double precision, 0);
  _room integer := 2147483647;
  _count integer;
begin
  if _running is not null then
    if _tenant is null then
      select count(*) into _count from (select from {s}.runs where ${runningMatches} limit _running) r;
    else
      select count(*) into _count from (select from {s}.runs where ${runningMatches} and ${ofTenant} limit _running) r;
    end if;
    _room := _running - _count;
  end if;
  if _starts is not null then
    if _tenant is null then
      select count(*) into _count from (select from {s}.queue_starts where queue = any (${queueIds}) and at > _since limit _starts) r;
    else
      select count(*) into _count from (
        select from {s}.queue_starts where queue = any (${queueIds}) and tenant = _tenant and at > _since limit _starts
      ) r;
    end if;
    _room := least(_room, _starts - _count);
  end if;
  return _room;
end $$;

-- Counts a start, and the turn of its tenant.
create function {s}.count_start(_agent text, _queue text, _tenant text, _limits jsonb) returns void language plpgsql as $$
declare
  _now double precision := {s}.now_ms();
begin
  insert into {s}.queue_turns values ({s}.queue_id(_agent, _queue), _tenant, _now)
    on conflict (queue, tenant) do update set at = excluded.at;
  if _limits -> 'rateLimit' is null then return; end if;
  delete from {s}.queue_starts where queue = {s}.queue_id(_agent, _queue) and expires_at <= _now;
  insert into {s}.queue_starts
    values ({s}.queue_id(_agent, _queue), _tenant, _now, _now + (_limits -> 'rateLimit' ->> 'period')::double precision);
end $$;

-- The starts of an erased tenant still count towards the rate limits of all tenants.
create function {s}.forget_tenant(_tenant text) returns void language sql as $$
  delete from {s}.queue_turns where tenant = _tenant;
  update {s}.queue_starts set tenant = '' where tenant = _tenant;
$$;

-- After a day, the order of the tenants does not matter.
create function {s}.forget_turns() returns void language sql as $$
  delete from {s}.queue_turns where at < (select {s}.now_ms()) - 86400000;
  delete from {s}.queue_starts where expires_at <= (select {s}.now_ms());
$$;
`
