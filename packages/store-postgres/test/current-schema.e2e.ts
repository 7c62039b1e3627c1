import { afterAll, describe, expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { newSchema, sql } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
afterAll(() => server?.end(), 60_000)

const tables = `select format(E'create table %s (\\n  %s\\n);', c.relname, string_agg(part, E',\\n  ' order by place, part)) as line
  from pg_class c, lateral (
    select attnum::int as place, format('%s %s%s%s', attname, format_type(atttypid, atttypmod),
      case when attnotnull then ' not null' else '' end,
      coalesce(case when attidentity <> '' then ' generated always as identity' when attgenerated <> ''
        then format(' generated always as (%s) stored', pg_get_expr(adbin, adrelid)) when adbin is not null then format(' default %s', pg_get_expr(adbin, adrelid)) end, '')) as part
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = c.oid and attnum > 0 and not attisdropped
    union all select 10000, format('constraint %s %s', conname, pg_get_constraintdef(oid)) from pg_constraint where conrelid = c.oid and contype <> 'n'
  ) parts where relnamespace = $1::regnamespace and relkind in ('r', 'p') group by c.relname order by c.relname`
const indexes = `select indexdef || ';' as line from pg_indexes where schemaname = $1
  and not exists (select from pg_constraint where connamespace = $1::regnamespace and conname = indexname) order by indexname`
const functions = `select rtrim(pg_get_functiondef(oid), E'\\n') || ';' as line from pg_proc where pronamespace = $1::regnamespace order by proname, oid`

const triggers = `select pg_get_triggerdef(t.oid) || ';' as line from pg_trigger t join pg_class c on c.oid = tgrelid
  where relnamespace = $1::regnamespace and not tgisinternal order by tgname`

describe.skipIf(server === undefined)('sql/current.sql', () => {
  it('is the schema of a new database', async () => {
    const schema = newSchema()
    const store = postgres({ url, schema })
    await store.ready()
    const lines: string[] = []
    for (const query of [tables, indexes, functions, triggers])
      for (const { line } of await sql(url, query, [schema])) lines.push(line as string)
    await store.close()
    const note = '-- The schema of src/schema. Written by: vitest run --project e2e current-schema -u\n\n'
    const text = `${note}${lines.join('\n\n')}\n`
      .replaceAll(`"${schema}".`, '')
      .replaceAll(`${schema}.`, '')
      .replaceAll(schema, 'allium')
    await expect(text).toMatchFileSnapshot('../sql/current.sql')
    if (url === process.env.DATABASE_URL) await sql(url, `drop schema "${schema}" cascade`)
  })
})
