import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const packages = fileURLToPath(new URL('../..', import.meta.url))
const read = (...path: string[]) => readFileSync(join(packages, ...path), 'utf8')

/** Modules of others that a file loads, and those that it imports. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  const found = new Set<string>()
  if (seen.has(file)) return found
  seen.add(file)
  for (const [, clause = '', from = ''] of read(file).matchAll(/^(?:import|export) ([^'"]*?)from '([^']+)'/gm)) {
    if (clause.startsWith('type ')) continue
    if (!from.startsWith('.')) found.add(from)
    else for (const one of loadedBy(join(dirname(file), from), seen)) found.add(one)
  }
  return found
}

test('no package but the server needs Hono', () => {
  const needing = readdirSync(packages).filter((name) => {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(read(name, 'package.json'))
    return 'hono' in { ...dependencies, ...peerDependencies }
  })
  expect(needing).toEqual(['server'])
})

test('a client loads nothing of the server', () => {
  expect([...loadedBy('server/src/client.ts')].sort()).toEqual(['@allium/core', 'eventsource-parser'])
  expect([...loadedBy('server/src/index.ts')]).toContain('hono/hono-base')
})
