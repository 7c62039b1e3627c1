import { readFileSync } from 'node:fs'
import { documents } from '@allium/memory/documents'
import { memoryStore } from '@allium/store'
import { manualClock } from '@allium/testing'
import { expect, test } from 'vitest'
import { sqlite } from '../src/index.ts'
import { fileIn, raw } from './files.ts'

const acme = { tenant: 'acme' }
const words = ['zebra', 'alpaca', 'llama', 'vault', 'hay', 'door', 'moon']

/** A document of some paragraphs, each with some of the words. */
const textOf = (n: number) =>
  Array.from({ length: 6 }, (_, i) =>
    Array.from({ length: 60 }, (_, j) => words[(n * 31 + i * 7 + j * j * (n + 1)) % words.length]).join(' '),
  ).join('\n\n')

test('memory and SQLite return the same chunks in the same order', async () => {
  const clock = manualClock(Date.UTC(2026, 4, 4))
  const inMemory = memoryStore({ clock })
  const stores = [{ sessions: inMemory, passages: inMemory.passages }, sqlite(fileIn(), { clock })]
  const lists = await Promise.all(
    stores.map(async (store) => {
      const handbook = documents({ store, name: 'handbook', clock })
      for (let n = 0; n < 12; n++)
        await handbook.put(`${n % 10}`, textOf(n), {
          ...acme,
          ...(n % 3 === 0 && { owner: 'ada' }),
          format: 'markdown',
        })
      await handbook.delete('4', acme)
      return Promise.all(
        words.map((word, i) =>
          handbook.search(`${word} ${words[(i + 3) % words.length]}`, { ...acme, owner: 'ada', limit: 10 }),
        ),
      )
    }),
  )
  expect(lists[1]).toEqual(lists[0])
  expect(lists[0]?.every((hits) => hits.length === 10)).toBe(true)
})

test('the file has no word of a document that was deleted', async () => {
  const path = fileIn()
  const store = sqlite(path, { synchronous: 'normal' })
  const handbook = documents({ store, name: 'handbook' })
  await handbook.put('a', 'Marmalade and rhubarb.', acme)
  expect(await handbook.search('rhubarb', acme)).toHaveLength(1)
  await handbook.delete('a', acme)
  store.close()
  raw(path, (db) => db.pragma('wal_checkpoint(TRUNCATE)'))
  expect(readFileSync(path, 'latin1')).not.toContain('rhubarb')
})
