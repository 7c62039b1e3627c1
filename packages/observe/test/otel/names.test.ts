import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import * as semconv from '@opentelemetry/semantic-conventions/incubating'
import { expect, it } from 'vitest'
import v145 from '../../conventions/1.45.json' with { type: 'json' }
import latest from '../../conventions/latest.json' with { type: 'json' }
import { namesFile, type Table } from './names-file.ts'

const tables: readonly [string, Table][] = [
  ['latest', latest],
  ['1.45', v145],
]

function rowsOf({ attributes, spans, metrics, events }: Table) {
  return [attributes, spans, metrics, events].flatMap((rows) => Object.values<{ name: string; source: string }>(rows))
}

/** To write it anew: `npx vitest run packages/observe/test/otel/names.test.ts -u`. */
it('has the names of the tables in src/otel/names.ts', async () => {
  const biome = join(import.meta.dirname, '../../../../node_modules/.bin/biome')
  const input = namesFile({ latest, v145 })
  const { stdout } = spawnSync(biome, ['format', '--stdin-file-path=names.ts'], { input, encoding: 'utf8' })
  await expect(stdout).toMatchFileSnapshot('../../src/otel/names.ts')
})

it.each(tables)('names the source of each row, with its commit: %s', (_, table) => {
  for (const { source } of rowsOf(table)) expect(Object.keys(table.sources)).toContain(source)
  for (const { package: name, commit } of Object.values(table.sources))
    expect(name ?? commit).toMatch(/@|^[0-9a-f]{40}$/)
})

it.each(tables)('lists only attributes that it has a row for: %s', (_, table) => {
  const listed = [table.spans, table.metrics, table.events].flatMap((rows) =>
    Object.values<{ attributes: string }>(rows).flatMap(({ attributes }) => attributes.split(' ')),
  )
  expect(listed.filter((key) => !(key in table.attributes))).toEqual([])
})

it('has in 1.45 only names of @opentelemetry/semantic-conventions 1.45.0, where that is their source', () => {
  const known = new Set<unknown>(Object.values(semconv))
  const ofPackage = rowsOf(v145).filter(({ source }) => source === 'package')
  expect(ofPackage.length).toBeGreaterThan(30)
  expect(ofPackage.filter(({ name }) => !known.has(name))).toEqual([])
})

it('has no name in latest that the conventions have replaced', () => {
  const replaced =
    /token\.usage|token\.type|client\.operation\.(duration|time)|invoke_agent\.(duration|internal)|cache_creation/
  expect(rowsOf(latest).filter(({ name }) => replaced.test(name))).toEqual([])
})
