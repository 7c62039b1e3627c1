import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent, isAlliumError } from '@allium/core'
import { budget } from '@allium/guard'
import { persist } from '@allium/memory'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../src/index.ts'

const program = fileURLToPath(new URL('./processes.child.ts', import.meta.url))
const flags = ['--conditions=@allium/source', '--import=tsx']
const account = '["guard:budget","acme"]'
const principal = { tenantId: 'acme', userId: 'ann' }
const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-processes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'allium.db')
}

/** A process on the file: `line()` gives the next one that it tells. */
function start(path: string, mode: string, name: string): { child: ChildProcess; line(): Promise<string> } {
  const child = spawn(process.execPath, [...flags, program, path, mode, name], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })[Symbol.asyncIterator]()
  return { child, line: async () => String((await lines.next()).value) }
}

function open(path: string) {
  const store = sqlite(path, { synchronous: 'normal' })
  onTestFinished(() => store.close())
  const estimate = () => ({ inputTokens: 10, outputTokens: 5 })
  const agent = new Agent({ model: scriptedModel(['Here I am.']) })
    .use(persist({ store: store.sessions, lease: 700 }))
    .use(budget({ limit: 1000, unit: 'tokens', per: 'tenant', estimate, ledger: store.ledger }))
  return { store, session: agent.session({ id: 'chat', principal }) }
}

/** Asks again until nobody else has the session. */
async function runWhenFree({ session }: ReturnType<typeof open>): Promise<string> {
  for (;;)
    try {
      return (await session.run('Hello?')).text
    } catch (error) {
      if (!isAlliumError(error, 'session.busy')) throw error
      await sleep(50)
    }
}

describe('processes that share a file', () => {
  it.each(['budget', 'rate'])(
    'let 10 of 100 turns at once through together, where the %s has room for 10',
    async (mode) => {
      const path = newFile()
      const processes = ['a', 'b'].map((name) => start(path, mode, name))
      const told = await Promise.all(processes.map(({ line }) => line()))
      const [a = 0, b = 0] = told.map((line) => Number(/^let through (\d+)$/.exec(line)?.[1]))
      expect(a + b).toBe(10)
    },
  )

  it('let exactly as many of 160 turns through as a rate in blocks has room for', async () => {
    const path = newFile()
    const processes = ['a-80', 'b-80'].map((name) => start(path, 'blocks', name))
    const told = await Promise.all(processes.map(({ line }) => line()))
    const [a = 0, b = 0] = told.map((line) => Number(/^let through (\d+)$/.exec(line)?.[1]))
    expect(a + b).toBe(60)
  })

  it('let no more through than a rate allows after one was killed with slots of a block', async () => {
    const path = newFile()
    const killed = start(path, 'blocks', 'a-9')
    expect(await killed.line()).toBe('let through 9')
    killed.child.kill('SIGKILL')
    const [, through = 0] = /^let through (\d+)$/.exec(await start(path, 'blocks', 'b-90').line()) ?? []
    // The killed one has used 9. It may have two blocks of 7 slots.
    expect(Number(through)).toBeLessThanOrEqual(60 - 9)
    expect(Number(through)).toBeGreaterThanOrEqual(60 - 1 - 14)
  })

  it('go on with a session whose process was killed: its question is there, its call is paid by the estimate', async () => {
    const path = newFile()
    const { child, line } = start(path, 'one', 'killed')
    expect(await line()).toBe('begun')
    child.kill('SIGKILL')
    const here = open(path)
    expect(here.store.ledger.balance(account)).toEqual({ spent: 0, reserved: 15 })
    expect(await runWhenFree(here)).toBe('Here I am.')
    expect(here.session.history.map(({ content }) => content)).toEqual(['from killed', 'Hello?', 'Here I am.'])
    expect((await here.store.sessions.load(key))?.version).toBe(2)
    expect(here.store.ledger.balance(account)).toEqual({ spent: 30, reserved: 0 })
  })

  it('take nothing from one that was stopped while another took its session, and comes back', async () => {
    const path = newFile()
    const { child, line } = start(path, 'one', 'stopped')
    expect(await line()).toBe('begun')
    child.kill('SIGSTOP')
    const here = open(path)
    expect(await runWhenFree(here)).toBe('Here I am.')
    child.kill('SIGCONT')
    child.stdin?.write('go\n')
    expect(await line()).toMatch(/^failed .*lease/)
    const stored = await here.store.sessions.load(key)
    expect(stored?.history.map(({ content }) => content)).toEqual(['from stopped', 'Hello?', 'Here I am.'])
    expect(here.store.ledger.balance(account)).toEqual({ spent: 30, reserved: 0 })
  })
})
