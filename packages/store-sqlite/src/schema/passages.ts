/**
 * Passages, which recall finds by their terms. `passage_terms` has the terms of the passage `n` as digests under the key of the owner in
 * `scopes`. It has no copy of them, and `passage_postings` reads its postings. The index has all that counts and edits read. The counter
 * `passages` has the number of deleted ones whose terms are still in the file. `off` is since when memory is off, for a person, or for a tenant
 * where the owner is empty. Vectors have a table of their own, because postings would read past them.
 */
export const passages = `
create table scopes (
  tenant text not null, owner text not null, key blob, off integer,
  primary key (tenant, owner)
) strict, without rowid;

insert into counters values ('passages', 0);

create table passages (
  n integer primary key,
  tenant text not null, owner text not null, agent text not null, session text not null,
  position integer not null, idx integer not null, seq integer not null,
  role text not null, author text not null, at integer not null, words integer not null, flow integer not null
) strict;
create index passages_by_place on passages (tenant, owner, agent, session, position, idx, words);

create table passage_vectors (n integer primary key, model text not null, vector blob not null) strict;

create virtual table passage_terms using fts5(terms, content = '', contentless_delete = 1, tokenize = 'ascii');
create virtual table passage_postings using fts5vocab('passage_terms', 'instance');
create trigger passage_deleted after delete on passages begin
  delete from passage_terms where rowid = old.n;
  delete from passage_vectors where n = old.n;
  update counters set value = value + 1 where name = 'passages';
end;
`
