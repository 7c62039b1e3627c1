import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { children } from '../../../store-postgres/test/chaos/children.ts'
import { ownServer } from '../../../store-postgres/test/server.ts'
import { answer, type Life, type Noted, notedIn, open } from './life.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-kills-'))
const server = await ownServer()
const ready = await children(folder, 2, join(import.meta.dirname, 'worker.ts'))
afterAll(async () => {
  await ready.end()
  await server?.end()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs of which each is killed two or three times, at any of its commits. */
const sessions = 14

describe.each(['sqlite', 'postgres'] as const)('durable runs on %s, killed at their steps', (kind) => {
  it.skipIf(kind === 'postgres' && server === undefined)(
    'end once, with the stored text, and nothing that was recorded is done again',
    async () => {
      const noted = join(folder, `${kind}.noted`)
      writeFileSync(noted, '')
      const place = {
        kind,
        at: server?.url ?? '',
        schema: 'kills',
        noted,
        ...(kind === 'sqlite' && { at: join(folder, 'kills.db') }),
      }
      const store = open(place)
      await store.sessions.list({ tenant: 'acme', limit: 1 })
      let kills = 0
      const ends: string[] = []
      const lane = async (first: number) => {
        for (let i = first; i < sessions; i += 2) {
          const life = { ...place, session: `s${i}` }
          for (const kill of [opening(i), placeOf(i * 7 + 3), placeOf(i * 5 + 1), ending(i)])
            if ((await lived({ ...life, kill })) === '') kills++
          ends.push(await lived(life))
        }
      }
      await Promise.all([lane(0), lane(1)])
      const done = JSON.stringify({ status: 'completed', stored: answer, text: answer })
      expect(ends).toEqual(Array.from({ length: sessions }, () => done))
      expect(kills).toBeGreaterThan(sessions)
      const all = await store.runs.list({ tenant: 'acme', limit: 100 })
      const sessionOf = new Map(all.items.map(({ run, key }) => [run, key.sessionId]))
      expect(doneAgain(notedIn(noted), sessionOf)).toEqual([])
      const records = await store.sessions.outbox.claim('test', 100, 60_000)
      expect(records.map(({ data }) => (data as { text: string }).text).toSorted()).toEqual(
        Array.from({ length: sessions }, (_, i) => `s${i}`).toSorted(),
      )
      for (let i = 0; i < sessions; i++) {
        const key = { tenant: 'acme', owner: 'ann', agent: 'journey', sessionId: `s${i}` }
        const stored = await store.sessions.load(key)
        expect([stored?.version, stored?.history.length]).toEqual([1, 4])
      }
      await store.close()
    },
    300_000,
  )
})

type Kill = NonNullable<Life['kill']>

const sideOf = (n: number): Kill['when'] => (n % 2 === 0 ? 'before' : 'after')

/** The commit that adds, claims and begins the run, or its first step after that. */
function opening(n: number): Kill {
  return { commit: n % 4 < 2 ? 'add' : 'record', nth: 1, when: sideOf(n) }
}

/** A record of a step from the first to the sixth, on one side of it or the other. */
function placeOf(n: number): Kill {
  return { commit: 'record', nth: 1 + (n % 6), when: sideOf(n) }
}

/** The commit of the turn, or that of the end of its events. */
function ending(n: number): Kill {
  return { commit: n % 4 < 2 ? 'append' : 'end', nth: 1, when: sideOf(n) }
}

/** What the process has said; nothing where it was killed. */
async function lived(life: Life): Promise<string> {
  const child = await ready.take(life)
  let said = ''
  child.stdout?.on('data', (data) => (said += data))
  await once(child, 'close')
  return said
}

/** Steps that were recorded, and begun once more later. A process runs what others have begun, too. */
function doneAgain(all: readonly Noted[], sessionOf: ReadonlyMap<string, string>): string[] {
  const recorded = new Set<string>()
  const again: string[] = []
  for (const { what, id } of all) {
    if (what === 'recorded') recorded.add(nameOf(id, sessionOf))
    else if (what !== 'model answered' && recorded.has(id)) again.push(`${what}: ${id}`)
  }
  return again
}

/** A step of a tool by its id, a model call by what it was asked: the input, or that with the calls and their results. */
function nameOf(id: string, sessionOf: ReadonlyMap<string, string>): string {
  const [, run = '', step] = /^(.*):model:(\d+):1$/.exec(id) ?? []
  return step === undefined ? id : `${sessionOf.get(run)} ${step === '0' ? 1 : 3}`
}
