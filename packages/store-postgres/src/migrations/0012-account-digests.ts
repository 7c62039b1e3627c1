/** Posts address accounts and holds by digests. Processes of earlier versions call the functions with their old signatures. */
export const accountDigests = `
create function {s}.reserve(
  _id text, _account text, _amount numeric, _limit double precision, _ends_in double precision, _closed text[],
  _ttl double precision, _run text, _tenant text, _owner text, _lease bigint, _began double precision, out amount_ numeric
) language plpgsql as $$
declare
  held {s}.accounts%rowtype;
  _now double precision := {s}.now_ms();
  _name text := {s}.digest(_account);
  _hold text := {s}.digest(_id);
  _over numeric;
  _known {s}.holds%rowtype;
  _token bigint := 0;
begin
  if _run is not null and _tenant is not null then
    _token := {s}.writer_token(_tenant, _owner, null, null, _lease, _began);
  end if;
  loop
    select * into held from {s}.accounts where name = _name for update;
    exit when found;
    insert into {s}.accounts (name) values (_name) on conflict do nothing;
  end loop;
  if cardinality(_closed) > 0 or random() < 0.02 then
    perform {s}.forget_accounts(_name, array(select {s}.digest(c) from unnest(_closed) c));
  end if;
  select * into _known from {s}.holds where account = _name and id = _hold;
  if found then
    amount_ := _known.amount;
    if _known.settled or (_known.expires_at is null and _ttl is null) then return; end if;
    update {s}.holds set expires_at = _now + _ttl, freed = false where account = _name and id = _hold;
    if _known.freed then
      update {s}.accounts set reserved = reserved + _known.amount where name = _name;
    end if;
    return;
  end if;
  with over as (
    update {s}.holds set freed = true
      where account = _name and not settled and not freed and expires_at <= _now returning amount
  ) select coalesce(sum(amount), 0) into _over from over;
  if (held.spent + held.reserved - _over + _amount)::double precision > _limit then
    if _over <> 0 then update {s}.accounts set reserved = reserved - _over where name = _name; end if;
    return;
  end if;
  insert into {s}.holds (account, id, amount, at, expires_at) values (_name, _hold, _amount, _now, _now + _ttl);
  -- What a run finds its hold by, until that is settled or its owner is erased.
  if _run is not null and _token is not null then
    update {s}.holds set run = {s}.digest(_run), place = json_build_array(_account, _id)::text, tenant = _tenant,
      owner = _owner, token = _token where account = _name and id = _hold;
  end if;
  update {s}.accounts
    set reserved = reserved - _over + _amount, ends_at = coalesce(_now + _ends_in, ends_at) where name = _name;
  amount_ := _amount;
end $$;

create or replace function {s}.reserve(
  _id text, _account text, _amount numeric, _limit double precision, _ends_in double precision, _closed text[],
  _ttl double precision, _run text, out amount_ numeric
) language sql as $$
  select {s}.reserve(_id, _account, _amount, _limit, _ends_in, _closed, _ttl, _run, null, null, null, null)
$$;

create or replace function {s}.reserve(
  _id text, _account text, _amount numeric, _limit double precision, _ends_in double precision, _closed text[],
  out amount_ numeric
) language sql as $$
  select {s}.reserve(_id, _account, _amount, _limit, _ends_in, _closed, null, null, null, null, null, null)
$$;

create or replace function {s}.settle(_id text, _account text, _spent numeric) returns void language plpgsql as $$
declare
  _name text := {s}.digest(_account);
  held numeric;
begin
  perform from {s}.accounts where name = _name for update;
  update {s}.holds set settled = true, place = null, run = null, tenant = null, owner = null
    where account = _name and id = {s}.digest(_id) and not settled
    returning case when freed then 0 else amount end into held;
  if not found then return; end if;
  update {s}.accounts set spent = spent + _spent, reserved = reserved - held where name = _name;
end $$;
`
