import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@allium/core'
import { buildSync } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../store-postgres/test/server.ts'
import { type ClientSession, createClient } from '../../src/client.ts'
import { startProxy } from './proxies.ts'

const behind = ['nginx', 'HAProxy', 'Apache', 'Caddy']
/** Each deploy is one for the readers behind all four proxies. */
const deploys = 13

// Most of its time are leases that run out. The limit is for a busy machine.
test('52 deploys in mid-answer behind four proxies lose nothing and double nothing', { timeout: 300_000 }, async () => {
  const upstream = await restartable()
  const readers = await Promise.all(
    behind.map(async (name) => new Reader(name, await startProxy(name, upstream.port, onTestFinished))),
  )
  const reading = Promise.all(readers.map((reader) => reader.read()))
  for (let deploy = 0; deploy < deploys; deploy++) {
    // Every reader has text of the process that is killed.
    await Promise.race([Promise.all(readers.map((reader) => reader.nextText())), reading])
    await upstream.restart(deploy % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
  }
  for (const reader of readers) reader.isLast = true
  await reading
  for (const reader of readers) await reader.check()
})

/** Asks one question after the other through a proxy. */
class Reader {
  isLast = false
  readonly #name: string
  readonly #session: ClientSession
  #answers = 0
  #onText = () => {}

  constructor(name: string, url: string) {
    this.#name = name
    const headers = () => ({ authorization: name })
    this.#session = createClient<Agent>({ url, headers, attempts: 200 }).session('a') as ClientSession
  }

  async read(): Promise<void> {
    while (!this.isLast) {
      const run = this.#session.run(`Question ${this.#answers}`)
      const ends: string[] = []
      for await (const event of run) {
        if (event.type === 'text-delta') this.#onText()
        if (event.type === 'turn:start' || event.type === 'turn:end') ends.push(event.type)
      }
      const { status, text } = await run
      expect([this.#name, status, text, ends]).toEqual([
        this.#name,
        'completed',
        this.#expected,
        ['turn:start', 'turn:end'],
      ])
      this.#answers++
    }
  }

  /** Resolves with the next piece of an answer. */
  nextText(): Promise<void> {
    return new Promise((resolve) => (this.#onText = resolve))
  }

  async check(): Promise<void> {
    const { messages } = await this.#session.history()
    const questions = messages.flatMap(({ role, parts }) =>
      role === 'user' ? parts.flatMap((part) => ('text' in part ? [part.text] : [])) : [],
    )
    expect(questions).toEqual(Array.from({ length: this.#answers }, (_, index) => `Question ${index}`))
    expect(messages).toHaveLength(2 * this.#answers)
  }

  get #expected(): string {
    return Array.from({ length: 30 }, (_, word) => `w${2 * this.#answers + 1}-${word} `).join('')
  }
}

/** The server of `deployed.ts` as a process on one port, which is bundled so that it starts in a moment. */
async function restartable() {
  const folder = mkdtempSync(join(tmpdir(), 'allium-deploys-'))
  const [port, program] = [await freePort(), join(folder, 'deployed.mjs')]
  // A native module, which stays where it is.
  const libsql = createRequire(new URL('../../../store-sqlite/package.json', import.meta.url)).resolve('libsql')
  buildSync({
    entryPoints: [join(import.meta.dirname, 'deployed.ts')],
    outfile: program,
    ...{ bundle: true, platform: 'node', format: 'esm', conditions: ['@allium/source'] },
    alias: { libsql },
    external: [libsql, '@modelcontextprotocol/sdk', '@opentelemetry/api'],
  })
  let child: ChildProcess
  const start = async () => {
    child = spawn(process.execPath, [program, `${port}`, join(folder, 'store.db')], { stdio: 'inherit' })
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${port}/healthz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        { interval: 20 },
      )
      .toBe(true)
  }
  await start()
  onTestFinished(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    port,
    async restart(signal: NodeJS.Signals) {
      const exited = once(child, 'exit')
      child.kill(signal)
      // As systemd does after TimeoutStopSec.
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
      await exited
      clearTimeout(timer)
      await start()
    },
  }
}
