const sessionMatches = 'tenant = _tenant and owner = _owner and id = _session'

/** Optionally adds a run only if its session is free, unless the run already exists. */
export const addRunUnlessBusy = `
create function {s}.add_free_run(
  _tenant text, _owner text, _session text, _run text, _agent text, _version text, _run_at double precision,
  _key text, _asked text[], _decides text[], _task bytea, _ms double precision, _unless_busy double precision,
  out outcome_ text, out n_ bigint, out absent_ text[], out token_ bigint, out version_ integer, out open_ boolean,
  out held_until_ double precision
) language plpgsql as $$
begin
  if _unless_busy is not null then
    -- Nobody takes it until this has ended; of one that is not there yet the row is made by who comes first.
    insert into {s}.sessions (tenant, owner, id) values (_tenant, _owner, _session) on conflict do nothing;
    perform from {s}.sessions where ${sessionMatches} for update;
    select greatest(s.held_until, {s}.now_ms() + case when s.run is null then 0 else _unless_busy end)
      into held_until_ from {s}.sessions s
      where s.tenant = _tenant and s.owner = _owner and s.id = _session
      and (s.held_until > {s}.now_ms() or s.run is not null)
      and not exists (select from {s}.runs r where r.tenant = _tenant and r.run = _run)
      and not exists (
        select from {s}.runs r where r.tenant = _tenant and r.owner = _owner and r.session = _session
        and hashtextextended(r.idempotency_key, 0) = hashtextextended(_key, 0) and r.idempotency_key = _key
      );
    if found then
      outcome_ := 'busy';
      return;
    end if;
  end if;
  select a.outcome_, a.n_, a.absent_, a.token_, a.version_, a.open_
    into outcome_, n_, absent_, token_, version_, open_
    from {s}.add_run(_tenant, _owner, _session, _run, _agent, _version, _run_at, _key, _asked, _decides, _task, _ms) a;
end $$;
`
