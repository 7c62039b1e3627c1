/** `reserve` and `settle` lock the account's row while they post. Expired holds free their amount. */
export const ledger = `
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
  if _run is null or _token is null then
    insert into {s}.holds (account, id, amount, at, expires_at) values (_name, _hold, _amount, _now, _now + _ttl);
  else
    -- A run finds its hold by these, until that is settled or its owner is erased.
    insert into {s}.holds (account, id, amount, at, expires_at, run, names, tenant, owner, token) values (
      _name, _hold, _amount, _now, _now + _ttl, {s}.digest(_run), json_build_array(_account, _id)::text, _tenant, _owner, _token
    );
  end if;
  update {s}.accounts
    set reserved = reserved - _over + _amount, ends_at = coalesce(_now + _ends_in, ends_at) where name = _name;
  amount_ := _amount;
end $$;

create function {s}.settle(_id text, _account text, _spent numeric) returns void language plpgsql as $$
declare
  _name text := {s}.digest(_account);
  held numeric;
begin
  perform from {s}.accounts where name = _name for update;
  update {s}.holds set settled = true, names = null, run = null, tenant = null, owner = null
    where account = _name and id = {s}.digest(_id) and not settled
    returning case when freed then 0 else amount end into held;
  if not found then return; end if;
  update {s}.accounts set spent = spent + _spent, reserved = reserved - held where name = _name;
end $$;

create function {s}.free_holds(_account text) returns void language plpgsql as $$
declare
  _over numeric;
begin
  perform from {s}.accounts where name = _account for update skip locked;
  if not found then return; end if;
  with over as (
    update {s}.holds set freed = true
      where account = _account and not settled and not freed and expires_at <= {s}.now_ms() returning amount
  ) select coalesce(sum(amount), 0) into _over from over;
  if _over <> 0 then update {s}.accounts set reserved = reserved - _over where name = _account; end if;
end $$;

-- Deletes some of the ended accounts, and of the holds that were settled a month ago. It skips locked rows, because waiting could deadlock.
create function {s}.forget_accounts(_but text, _closed text[]) returns void language plpgsql set enable_seqscan = off as $$
begin
  if cardinality(_closed) > 0 then
    update {s}.accounts set ends_at = 0 where name in (
      select name from {s}.accounts where name = any (_closed) and name <> _but for update skip locked
    );
  end if;
  perform {s}.free_holds(name) from (
    select name from {s}.accounts where ends_at <= (select {s}.now_ms()) and reserved <> 0 and name <> _but
    order by ends_at limit 100
  ) ended;
  with gone as (
    delete from {s}.accounts where name = any (array(
      select name from {s}.accounts where ends_at <= (select {s}.now_ms()) and reserved = 0 and name <> _but
      order by ends_at limit 100 for update skip locked
    )) returning name
  ) delete from {s}.holds h using gone where h.account = gone.name;
  delete from {s}.holds where ctid = any (array(
    select ctid from {s}.holds where settled and at < (select {s}.now_ms()) - 2592000000
    order by at limit 100 for update skip locked
  ));
end $$;
`
