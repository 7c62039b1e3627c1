/**
 * Times are milliseconds since the epoch by the server's clock. Names sort by bytes, which is the same on every machine. Leases and erasures
 * draw their tokens from one sequence. Digests have a key of the schema.
 */
export const base = `
create sequence {s}.tokens;

create function {s}.now_ms() returns double precision language sql volatile as
  $$ select extract(epoch from clock_timestamp())::double precision * 1000 $$;

create table {s}.digest_key (one boolean primary key default true check (one), key bytea not null);
insert into {s}.digest_key (key)
  values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
create function {s}.digest(_text text) returns text language sql stable as $$
  select encode(sha256(key || convert_to(_text, 'UTF8')), 'base64') from {s}.digest_key
$$;
`
