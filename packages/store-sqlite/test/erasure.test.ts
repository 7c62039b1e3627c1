import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { erasureConformance } from '@allium/testing'
import { afterAll, describe, it } from 'vitest'
import { type SqliteStore, sqlite } from '../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const paths = new WeakMap<object, string>()

for (const seed of [1, 2, 3])
  erasureConformance({
    name: `sqlite(), seed ${seed}`,
    seed,
    makeStore({ clock }) {
      const name = `${files++}.db`
      const store = sqlite(join(folder, name), { clock, synchronous: 'normal' })
      paths.set(store, name)
      return store
    },
    /** The file, its log, and what processes share of that. */
    contents(store) {
      const name = paths.get(store) ?? ''
      const own = readdirSync(folder).filter((file) => file.startsWith(name))
      return own.map((file) => readFileSync(join(folder, file), 'latin1')).join()
    },
    close: (store) => (store as SqliteStore).close(),
    describe,
    it,
  })
