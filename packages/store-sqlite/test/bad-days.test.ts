import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type AlliumError, type SessionKey, type StoredTurn } from '@allium/core'
import { persist } from '@allium/memory'
import { manualClock, scriptedModel } from '@allium/testing'
import Libsql from 'libsql'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'
import { beforePragma, beforeStatement } from './before-statement.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newPath = () => join(folder, `${files++}.db`)

const key: SessionKey = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const turn = (text: string, from = 0): StoredTurn => ({
  turnId: `turn ${text.length}`,
  rootId: `turn ${text.length}`,
  agent: 'agent',
  status: 'completed',
  startedAt: 1,
  endedAt: 2,
  usage: { inputTokens: 0, outputTokens: 0, calls: 1 },
  answer: text,
  records: [],
  from,
  messages: [{ role: 'user', content: text }],
  rest: { state: {} },
})

async function add(store: ReturnType<typeof sqlite>, text: string, where = key): Promise<void> {
  const { lease } = await store.sessions.acquire(where, 10_000)
  if (lease === undefined) throw new Error('Somebody has it.')
  await store.sessions.append(lease, lease.version, turn(text), { release: true })
}

/** What something throws or rejects with. */
async function failure(act: () => unknown): Promise<AlliumError> {
  try {
    await act()
  } catch (error) {
    return error as AlliumError
  }
  return expect.fail('It was to fail.')
}

describe('sqlite()', () => {
  it.each([
    ['a NUL', 'a\0'],
    ['half a character', 'a\ud800'],
    ['10 kB', 'x'.repeat(10_240)],
  ])('refuses a key with %s', async (_, name) => {
    const store = sqlite(':memory:')
    for (const part of ['tenant', 'owner', 'agent', 'sessionId'])
      expect((await failure(() => store.sessions.acquire({ ...key, [part]: name }, 10))).code).toBe('store.key')
    store.close()
  })

  it('tells a row that does not parse by its key, and goes on with the others', async () => {
    const path = newPath()
    const store = sqlite(path)
    await add(store, 'hello')
    await add(store, 'other', { ...key, sessionId: 'other' })
    const raw = new Libsql(path)
    raw.exec("update turns set messages = x'7b' where session = 'chat'")
    raw.close()
    const error = await failure(() => store.sessions.load(key))
    expect([error.code, error.message.includes('chat')]).toEqual(['store.corrupt', true])
    expect((await store.sessions.load({ ...key, sessionId: 'other' }))?.version).toBe(1)
    store.close()
  })

  it.each(['messages', 'rest', 'info'])('tells a row whose %s are null', async (part) => {
    const path = newPath()
    const store = sqlite(path)
    await add(store, 'hello')
    const raw = new Libsql(path)
    raw.exec(`update turns set ${part} = x'6e756c6c'`)
    raw.close()
    const error = await failure(() => store.sessions.find(key, { version: 1 }))
    expect([error.code, error.message.includes('chat')]).toEqual(['store.corrupt', true])
    if (part !== 'info') expect((await failure(() => store.sessions.load(key))).code).toBe('store.corrupt')
    store.close()
  })

  it('tells a cursor that is of no list, and a row of which only the usage does not parse', async () => {
    const path = newPath()
    const store = sqlite(path)
    await add(store, 'hello')
    const raw = new Libsql(path)
    raw.exec("update turns set usage = '{'")
    raw.close()
    for (const cursor of ['x', '5', '["a","b","c"]'])
      expect((await failure(() => store.sessions.list({ tenant: 'acme', cursor, limit: 1 }))).code).toBe('store.key')
    expect((await failure(() => store.sessions.find(key, { turnId: 'turn 5' }))).code).toBe('store.corrupt')
    store.close()
  })

  it('gives the records beside one that does not parse, which stands alone when it comes again', async () => {
    const path = newPath()
    const clock = manualClock()
    const store = sqlite(path, { clock })
    const { lease } = await store.sessions.acquire(key, 1000)
    const records = ['a', 'b'].map((id) => ({ id, topic: 'paid', data: id, at: 1 }))
    if (lease !== undefined) await store.sessions.append(lease, 0, { ...turn('hello'), records })
    const raw = new Libsql(path)
    raw.exec("update outbox set body = x'7b' where id = 'a'")
    raw.close()
    const { outbox } = store.sessions
    expect((await outbox.claim('billing', 10, 1000)).map(({ id }) => id)).toEqual(['b'])
    await outbox.done('billing', ['b'])
    await clock.advance(1000)
    expect((await failure(() => outbox.claim('billing', 10, 1000))).code).toBe('store.corrupt')
    store.close()
  })

  it('knows a run that was appended under an older key of the digests', async () => {
    const plain = { seal: (bytes: Uint8Array) => bytes, open: (bytes: Uint8Array) => bytes }
    const mac = (bytes: Uint8Array, by: number) => Uint8Array.from([by, ...bytes])
    const path = newPath()
    const before = sqlite(path, { encrypt: { ...plain, mac: (bytes) => mac(bytes, 1) } })
    const { lease } = await before.sessions.acquire(key, 10_000)
    if (lease === undefined) return expect.fail('Nobody has it.')
    await before.sessions.append(lease, 0, turn('hello'))
    before.close()
    const rotated = sqlite(path, { encrypt: { ...plain, mac: (bytes) => [mac(bytes, 2), mac(bytes, 1)] } })
    await rotated.sessions.append(lease, 0, turn('hello'))
    expect((await rotated.sessions.load(key))?.version).toBe(1)
    rotated.close()
  })

  it('tells a file that is no database, one that was cut, and one of a newer version', async () => {
    const [text, cut, newer] = [newPath(), newPath(), newPath()]
    writeFileSync(text, 'no database, but long enough to be taken for one'.repeat(100))
    const whole = sqlite(cut)
    for (let i = 0; i < 20; i++) await add(whole, `${i} ${'x'.repeat(5000)}`, { ...key, sessionId: `s${i}` })
    whole.close()
    truncateSync(cut, 20_000)
    const raw = new Libsql(newer)
    raw.exec('pragma user_version = 99')
    raw.close()
    expect((await failure(() => sqlite(text))).code).toBe('store.corrupt')
    const read = async () => {
      const store = sqlite(cut)
      for (let i = 0; i < 20; i++) await store.sessions.load({ ...key, sessionId: `s${i}` })
    }
    expect((await failure(read)).code).toBe('store.corrupt')
    expect((await failure(() => sqlite(newer))).message).toContain('schema version 99')
  })

  it('tells a full disk before the turn is acknowledged, and the session stands where the store stands', async () => {
    const path = newPath()
    const store = sqlite(path, { maxBytes: 400_000 })
    const agent = new Agent({ model: scriptedModel(['one', 'two'.repeat(200_000), 'three']) }).use(
      persist({ store: store.sessions }),
    )
    const session = agent.session({ id: 'chat' })
    await session.run('1')
    const error = await failure(() => session.run('2'))
    expect([error.code, session.history.length]).toEqual(['store.full', 2])
    await session.run('3')
    expect((await store.sessions.load({ tenant: '', owner: '', agent: 'agent', sessionId: 'chat' }))?.history).toEqual(
      session.history,
    )
    store.close()
  })

  it('starts durable runs again after one for which there was no room', async () => {
    const store = sqlite(newPath(), { maxBytes: 500_000 })
    const run = (id: string, task: string) => ({ run: id, key, agent: 'agent', version: '1', task })
    expect((await failure(() => store.runs.add(run('big', 'x'.repeat(1_000_000))))).code).toBe('store.full')
    expect((await store.runs.add(run('small', 'x'))).isNew).toBe(true)
    store.close()
  })

  it('tells a file that may not be written before the turn is acknowledged, and the session stands where the store stands', async () => {
    const clock = manualClock()
    const store = sqlite(newPath(), { clock })
    let isReadOnly = false
    onTestFinished(beforeStatement((db) => db.pragma(`query_only = ${isReadOnly}`)))
    const agent = new Agent({ model: scriptedModel(['one', 'two', 'three']) }).use(persist({ store: store.sessions }))
    agent.use('model', async (_, next) => {
      const response = await next()
      isReadOnly = response.text === 'two'
      return response
    })
    const ends: string[] = []
    agent.on('turn:end', ({ status }) => ends.push(status))
    const session = agent.session({ id: 'chat' })
    await session.run('1')
    const error = await failure(() => session.run('2'))
    expect([error.code, session.history.length, ends]).toEqual(['store.readonly', 2, ['completed', 'failed']])
    isReadOnly = false
    // The lease could not be given back, either.
    await clock.advance(10_001)
    await session.run('3')
    expect((await store.sessions.load({ tenant: '', owner: '', agent: 'agent', sessionId: 'chat' }))?.history).toEqual(
      session.history,
    )
    store.close()
  })

  it.each([
    ['a folder that is not there', () => join(folder, 'none', 'store.db')],
    ['a folder in its place', () => folder],
  ])('says what to do about %s', async (_, path) => {
    const error = await failure(() => sqlite(path()))
    expect([error.code, error.message]).toEqual(['store.unavailable', expect.stringContaining('Create its folder')])
  })

  it.each([
    ['SQLITE_FULL', 'store.full'],
    ['SQLITE_READONLY_DIRECTORY', 'store.readonly'],
    ['UNKNOWN_SQLITE_ERROR_1544', 'store.readonly'],
    ['SQLITE_CANTOPEN', 'store.unavailable'],
  ])('rejects %s of the operating system with %s while it opens, and opens later', async (code, known) => {
    const path = newPath()
    const end = beforeStatement((_, text) => {
      if (text.startsWith('pragma user_version')) throw Object.assign(new Error('as the system says it'), { code })
    })
    onTestFinished(end)
    expect((await failure(() => sqlite(path))).code).toBe(known)
    end()
    const store = sqlite(path)
    await add(store, 'hello')
    store.close()
  })

  it('tells a disk that is full when it closes', async () => {
    const store = sqlite(newPath())
    onTestFinished(
      beforePragma((text) => {
        if (text.startsWith('wal_checkpoint'))
          throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
      }),
    )
    expect((await failure(() => store.close())).code).toBe('store.full')
    expect((await failure(() => store.sessions.load(key))).code).toBe('store.unavailable')
  })

  it('is unavailable once it is closed, and closes twice', async () => {
    const store = sqlite(':memory:')
    store.close()
    store.close()
    expect((await failure(() => store.sessions.load(key))).code).toBe('store.unavailable')
  })

  it.each([-3_600_000, 3_600_000])('keeps to its leases where somebody sets the clock by %i ms', async (jump) => {
    let now = 1_000_000_000_000
    const steady = manualClock()
    const clock = { now: () => now, monotonic: () => steady.monotonic(), after: steady.after }
    const { sessions, close } = sqlite(':memory:', { clock })
    expect((await sessions.acquire(key, 10_000)).lease).toBeDefined()
    now += jump
    const { lease, heldUntil } = await sessions.acquire(key, 10_000)
    expect([lease, Math.abs((heldUntil ?? 0) - now) <= 10_000]).toEqual([undefined, true])
    await steady.advance(10_001)
    expect((await sessions.acquire(key, 10_000)).lease).toBeDefined()
    close()
  })

  it('lets leases of another start of the machine lapse', async () => {
    const path = newPath()
    const clock = manualClock()
    const store = sqlite(path, { clock })
    await store.sessions.acquire(key, 1e9)
    const raw = new Libsql(path)
    raw.exec("update sessions set boot = 'before'")
    raw.close()
    expect(await store.sessions.acquire(key, 1000)).toHaveProperty('lease')
    store.close()
  })

  it('gives a session to one of two processes, and what the first wrote to the second', async () => {
    const path = newPath()
    const store = sqlite(path)
    const { lease } = await store.sessions.acquire(key, 60_000)
    const child = (code: string) => {
      const run = ['--conditions=@allium/source', '--import=tsx', '--input-type=module', '-e', code]
      return spawnSync(process.execPath, run, { encoding: 'utf8', cwd: import.meta.dirname }).stdout.trim()
    }
    const asks = `import { sqlite } from '../src/index.ts'
      const store = sqlite(${JSON.stringify(path)})
      const { heldUntil } = await store.sessions.acquire(${JSON.stringify(key)}, 1000)
      console.log(heldUntil > Date.now(), (await store.sessions.load(${JSON.stringify(key)}))?.version)`
    expect(child(asks)).toBe('true undefined')
    if (lease !== undefined) await store.sessions.append(lease, 0, turn('hello'), { release: true })
    expect(child(asks)).toBe('false 1')
    store.close()
  })

  it('keeps nothing readable of what is said where it encrypts, and opens nothing at another place', async () => {
    const path = newPath()
    const store = sqlite(path, { encrypt: await aes() })
    const canary = 'the canary sings at midnight'
    await add(store, canary)
    await add(store, 'other', { ...key, sessionId: 'other' })
    expect((await store.sessions.load(key))?.history[0]?.content).toBe(canary)
    store.close()
    for (const file of [path, `${path}-wal`]) expect(readIfThere(file).includes('canary')).toBe(false)
    const raw = new Libsql(path)
    raw.exec("update turns set messages = (select messages from turns where session = 'other') where session = 'chat'")
    raw.close()
    const again = sqlite(path, { encrypt: await aes() })
    expect((await failure(() => again.sessions.load(key))).code).toBe('store.sealed')
    again.close()
  })
})

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

const secret = crypto.subtle.importKey('raw', new Uint8Array(32).fill(7), 'AES-GCM', false, ['encrypt', 'decrypt'])

/** AES-GCM under one key, bound to the place. */
async function aes() {
  const bound = (place: { tenant: string; row: string }, iv: Uint8Array<ArrayBuffer>) => ({
    name: 'AES-GCM',
    iv,
    additionalData: new TextEncoder().encode(JSON.stringify(place)),
  })
  return {
    async seal(bytes: Uint8Array, place: { tenant: string; row: string }) {
      const iv = crypto.getRandomValues(new Uint8Array(12))
      const sealed = await crypto.subtle.encrypt(bound(place, iv), await secret, new Uint8Array(bytes))
      return Buffer.concat([iv, new Uint8Array(sealed)])
    },
    async open(bytes: Uint8Array, place: { tenant: string; row: string }) {
      const own = new Uint8Array(bytes)
      return new Uint8Array(await crypto.subtle.decrypt(bound(place, own.slice(0, 12)), await secret, own.slice(12)))
    },
  }
}
